"""The message `tf.train.Example`, in which TensorFlow writes one record with named fields.

Its definition is that of TensorFlow's `example.proto` and `feature.proto`. The message types live in a pool of their
own, so that TensorFlow can be loaded in the same process. Of TensorFlow itself nothing is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Final

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError, Message

PACKAGE: Final = "tensorflow"
FieldProto = descriptor_pb2.FieldDescriptorProto
LISTS: Final = {
    "bytes_list": ("BytesList", FieldProto.TYPE_BYTES),
    "float_list": ("FloatList", FieldProto.TYPE_FLOAT),
    "int64_list": ("Int64List", FieldProto.TYPE_INT64),
}
"""Message and element type of each kind of field, in the order of their numbers."""


class MalformedExample(ValueError):
    """Error that bytes are not a `tf.train.Example`, or that a required field is missing or is not a single text."""


@functools.cache
def example_type() -> type[Message]:
    """Return the class of the protocol buffer message `tf.train.Example`.

    An `Example` maps names of fields to lists of bytes, floats or integers. The class is built from its definition at
    first use, so that TensorFlow is not needed.

    Returns:
        The class; every call returns the same one.
    """
    file = descriptor_pb2.FileDescriptorProto(name="example.proto", package=PACKAGE, syntax="proto3")
    # One message type for each kind of list, and the message Feature, which has one list of any kind.
    for name, element in LISTS.values():
        _add_field(file.message_type.add(name=name), "value", 1, element, repeated=True)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, (field_name, (list_name, _)) in enumerate(LISTS.items(), start=1):
        list_field = _add_field(feature, field_name, number, FieldProto.TYPE_MESSAGE, type_name=list_name)
        list_field.oneof_index = 0

    # The message Features has a map from names to values of the type Feature. Protocol buffers encode a map as a
    # repeated field of entries with a key and a value.
    features = file.message_type.add(name="Features")
    entry = features.nested_type.add(name="FeatureEntry")
    entry.options.map_entry = True
    _add_field(entry, "key", 1, FieldProto.TYPE_STRING)
    _add_field(entry, "value", 2, FieldProto.TYPE_MESSAGE, type_name="Feature")
    entry_type = "Features.FeatureEntry"
    _add_field(features, "feature", 1, FieldProto.TYPE_MESSAGE, type_name=entry_type, repeated=True)
    example = file.message_type.add(name="Example")
    _add_field(example, "features", 1, FieldProto.TYPE_MESSAGE, type_name="Features")

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.Example"))


def _add_field(
    message: descriptor_pb2.DescriptorProto,
    name: str,
    number: int,
    kind: FieldProto.Type.ValueType,
    *,
    type_name: str | None = None,
    repeated: bool = False,
) -> FieldProto:
    """Add a field to the definition of a protocol buffer message, and return it.

    Args:
        message: the message type.
        name: name of the field.
        number: number of the field in the encoding.
        kind: type of its values.
        type_name: message type of its values, without the package; None for numbers, strings and bytes.
        repeated: True if the field is a list of values; False if it has at most one value.

    Returns:
        The new field, a part of `message`.
    """
    label = FieldProto.LABEL_REPEATED if repeated else FieldProto.LABEL_OPTIONAL
    field = message.field.add(name=name, number=number, type=kind, label=label)
    if type_name is not None:
        field.type_name = f".{PACKAGE}.{type_name}"
    return field


def parse_texts(content: bytes, names: tuple[str, ...]) -> tuple[str, ...]:
    """Parse a serialized `tf.train.Example`, and return the texts of the given fields.

    Args:
        content: the serialized message.
        names: names of the fields, each with one text in UTF-8.

    Returns:
        The texts, in the order of the names.

    Raises:
        MalformedExample: the bytes are not such a message, or a field is missing or is not a single text.
    """
    example: Any = example_type()()  # Any, because type checkers do not know the fields of a class built at run time
    try:
        example.ParseFromString(content)
    except (DecodeError, TypeError):
        raise MalformedExample("is not a tf.train.Example") from None
    return tuple(_parse_text(example.features.feature, name) for name in names)


def _parse_text(features: Mapping[str, Any], name: str) -> str:
    """Return the only text in one field of a `tf.train.Example`.

    Args:
        features: fields of the example by name.
        name: name of the field, which must hold exactly one text.

    Returns:
        The text, decoded from UTF-8.

    Raises:
        MalformedExample: the field is missing, or is not a single text in UTF-8.
    """
    values: Sequence[bytes] = features[name].bytes_list.value if name in features else ()
    if len(values) != 1:
        raise MalformedExample(f"has no single text in the field {name}")
    try:
        return str(values[0], "utf-8")
    except UnicodeDecodeError:
        raise MalformedExample(f"has a field {name} that is not UTF-8") from None
