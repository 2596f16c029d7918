// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.lang.reflect.Field;
import org.apache.cassandra.cql3.Attributes;
import org.apache.cassandra.cql3.statements.BatchStatement;

/** BEGIN BATCH USING TIMESTAMP: Cassandra keeps a batch's attributes to itself. */
final class BatchTimestamp {
  private static final Field ATTRIBUTES = attributes();

  private BatchTimestamp() {}

  private static Field attributes() {
    try {
      Field field = BatchStatement.class.getDeclaredField("attrs");
      field.setAccessible(true);
      return field;
    } catch (NoSuchFieldException e) {
      throw new IllegalStateException("This is not the Cassandra that Isolde is made for.", e);
    }
  }

  static void refuse(BatchStatement batch) {
    try {
      if (((Attributes) ATTRIBUTES.get(batch)).isTimestampSet()) {
        throw IsoldeException.of(
            ErrorCode.UNSUPPORTED_TIMESTAMP,
            "USING TIMESTAMP is not for transactional tables and strong keyspaces: the commit, or"
                + " the log, gives the timestamp.");
      }
    } catch (IllegalAccessException e) {
      throw new AssertionError("made accessible above", e);
    }
  }
}
