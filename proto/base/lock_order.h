// A matter of Debian's build of Abseil, without NDEBUG: its locks, which gRPC's are, track the order in which
// they are taken. Programs go without.
#ifndef PACKTRAIN_PROTO_BASE_LOCK_ORDER_H_
#define PACKTRAIN_PROTO_BASE_LOCK_ORDER_H_

namespace packtrain::base {

// Ends the tracking of lock order, which takes one lock for the whole process, and costs more than sending
// where there are many streams. A library that was built with NDEBUG does none. For the whole process and from
// now on; called by main, before threads are made.
void ForgetLockOrder();

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_LOCK_ORDER_H_
