// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.cql3.ColumnIdentifier;
import org.apache.cassandra.cql3.ColumnSpecification;
import org.apache.cassandra.cql3.ResultSet;
import org.apache.cassandra.db.marshal.AbstractType;
import org.apache.cassandra.transport.messages.ResultMessage;

/** Builds an answer of one row. */
final class Rows {
  private final List<ColumnSpecification> columns = new ArrayList<>();
  private final List<ByteBuffer> values = new ArrayList<>();

  <T> Rows with(String column, AbstractType<T> type, T value) {
    ColumnIdentifier name = new ColumnIdentifier(column, true);
    columns.add(new ColumnSpecification("isolde", "transaction", name, type));
    values.add(value == null ? null : type.decompose(value));
    return this;
  }

  ResultMessage.Rows build() {
    List<List<ByteBuffer>> rows = new ArrayList<>();
    rows.add(values);
    return new ResultMessage.Rows(new ResultSet(new ResultSet.ResultMetadata(columns), rows));
  }
}
