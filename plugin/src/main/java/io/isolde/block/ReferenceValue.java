// SPDX-License-Identifier: Apache-2.0
package io.isolde.block;

import io.isolde.block.ExpressionCompiler.Computation;
import io.isolde.error.IsoldeException;
import java.nio.ByteBuffer;
import java.util.List;
import org.apache.cassandra.cql3.FieldIdentifier;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.db.marshal.ByteBufferAccessor;
import org.apache.cassandra.db.marshal.CollectionType;
import org.apache.cassandra.db.marshal.Int32Type;
import org.apache.cassandra.db.marshal.ListType;
import org.apache.cassandra.db.marshal.MapType;
import org.apache.cassandra.db.marshal.SetType;
import org.apache.cassandra.db.marshal.UserType;

/**
 * What a reference refers to: a column of a row, or a part of its value.
 *
 * @param type of what is found
 * @param computation null if there is no row, no value, or no such part
 */
record ReferenceValue(AbstractType<?> type, Computation computation) {

  static ReferenceValue ofColumn(int let, int column, AbstractType<?> type) {
    return new ReferenceValue(
        type,
        moment -> {
          List<ByteBuffer> row = moment.row(let);
          return row == null ? null : row.get(column);
        });
  }

  ByteBuffer at(BlockMoment moment) {
    return computation.at(moment);
  }

  /** Whether a value counts as none. */
  boolean isNull(ByteBuffer value) {
    return value == null || type.isNull(value);
  }

  /**
   * A field of a value of a user-defined type.
   *
   * @param text the reference, for the error
   */
  ReferenceValue field(String name, String text) {
    if (type instanceof UserType user) {
      int field = user.fieldPosition(FieldIdentifier.forInternalString(name));
      if (field >= 0) {
        return new ReferenceValue(
            user.type(field),
            moment -> {
              ByteBuffer value = at(moment);
              if (value == null) {
                return null;
              }
              ByteBuffer[] fields = user.split(ByteBufferAccessor.instance, value);
              return field < fields.length ? fields[field] : null; // Else it was added later.
            });
      }
    }
    throw IsoldeException.invalid(
        "BEGIN TRANSACTION: "
            + text
            + ": the type "
            + type.asCQL3Type()
            + " has no field "
            + name
            + ".");
  }

  /**
   * The type of what stands in brackets behind it.
   *
   * @param text the reference, for the error
   */
  AbstractType<?> keyType(String text) {
    if (type instanceof MapType<?, ?> map) {
      return map.getKeysType();
    }
    if (type instanceof SetType<?> set) {
      return set.getElementsType();
    }
    if (type instanceof ListType<?>) {
      return Int32Type.instance;
    }
    throw IsoldeException.invalid(
        "BEGIN TRANSACTION: " + text + ": the type " + type.asCQL3Type() + " has no elements.");
  }

  /** An element of a map, a list or a set. */
  ReferenceValue element(Computation key) {
    CollectionType<?> collection = (CollectionType<?>) type;
    AbstractType<?> elementType =
        collection instanceof SetType<?> set ? set.getElementsType() : collection.valueComparator();
    return new ReferenceValue(
        elementType,
        moment -> {
          ByteBuffer value = at(moment);
          ByteBuffer at = key.at(moment);
          return value == null || at == null ? null : element(collection, value, at);
        });
  }

  private static ByteBuffer element(CollectionType<?> type, ByteBuffer value, ByteBuffer key) {
    if (type instanceof ListType<?> list) {
      Integer index = Int32Type.instance.compose(key);
      return index == null || index < 0 ? null : list.getSerializer().getElement(value, index);
    }
    AbstractType<?> keyType = type.nameComparator();
    return type.getSerializer().getSerializedValue(value, key, keyType);
  }
}
