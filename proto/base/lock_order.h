// A habit of gRPC's locks that programs go without.
#ifndef PACKTRAIN_PROTO_BASE_LOCK_ORDER_H_
#define PACKTRAIN_PROTO_BASE_LOCK_ORDER_H_

namespace packtrain::base {

// Ends that Abseil's locks, which gRPC's are, note in which order they are taken: they do in a library that was
// built without NDEBUG, as distributions' are, and under one lock for the whole process, which costs more than
// sending where there are many streams. For the whole process and from now on; called by main, before threads
// are made.
void ForgetLockOrder();

}  // namespace packtrain::base

#endif  // PACKTRAIN_PROTO_BASE_LOCK_ORDER_H_
