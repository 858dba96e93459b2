"""Checks the protocol's names against the rules of buf's STANDARD category.

usage: proto_names.py DESCRIPTOR_SET   (from protoc --descriptor_set_out); prints each broken rule, exits 1 if any.
"""
import re
import sys

from google.protobuf import descriptor_pb2

PASCAL = re.compile(r"^[A-Z][A-Za-z0-9]*$")
SNAKE = re.compile(r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$")


def upper_snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).upper()


def check_enum(where, enum):
    prefix = upper_snake(enum.name) + "_"
    for value in enum.value:
        if not value.name.startswith(prefix):
            yield f"{where}: {enum.name}.{value.name} lacks the prefix {prefix}"
    if enum.value[0].name != prefix + "UNSPECIFIED":
        yield f"{where}: {enum.name} must begin with {prefix}UNSPECIFIED"


def check_message(where, message):
    if not PASCAL.match(message.name):
        yield f"{where}: message {message.name} is not PascalCase"
    for field in message.field:
        if not SNAKE.match(field.name):
            yield f"{where}: field {message.name}.{field.name} is not snake_case"
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield from check_message(where, nested)
    for enum in message.enum_type:
        yield from check_enum(where, enum)


def check_service(where, service):
    if not service.name.endswith("Service"):
        yield f"{where}: service {service.name} does not end in Service"
    for method in service.method:
        for kind, name in (("Request", method.input_type), ("Response", method.output_type)):
            if name.rsplit(".", 1)[1] not in {method.name + kind, service.name + method.name + kind}:
                yield f"{where}: {service.name}.{method.name} takes or gives {name}, not {method.name}{kind}"


def check_file(file):
    where = file.name
    if not re.match(r"^[a-z0-9_]+(\.[a-z0-9_]+)*\.v[0-9]+$", file.package):
        yield f"{where}: package {file.package} has no version"
    if where.rsplit("/", 1)[0] != file.package.replace(".", "/"):
        yield f"{where}: lies outside the folder of package {file.package}"
    for enum in file.enum_type:
        yield from check_enum(where, enum)
    for message in file.message_type:
        yield from check_message(where, message)
    for service in file.service:
        yield from check_service(where, service)


def main(path):
    with open(path, "rb") as file:
        files = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file
    broken = [problem for file in files for problem in check_file(file)]
    print("\n".join(broken) or f"names of {len(files)} files hold")
    return 1 if broken or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
