// SPDX-License-Identifier: Apache-2.0
package io.isolde.client;

import com.datastax.oss.driver.api.core.cql.BatchStatement;
import com.datastax.oss.driver.api.core.cql.BatchType;
import com.datastax.oss.driver.api.core.cql.BatchableStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import com.datastax.oss.driver.api.core.cql.Statement;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** Writes of a transaction that wait for the request that takes them along. Thread-safe. */
final class HeldWrites {
  static final int MAX_STATEMENTS = 100;

  /** Far below the 16 MiB that a node takes as one request. */
  static final long MAX_BYTES = 1 << 20;

  /** For what the driver has not encoded yet. */
  private static final int BYTES_OF_A_NUMBER = 16;

  private static final Pattern QUOTED =
      Pattern.compile("'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\\$\\$.*?\\$\\$", Pattern.DOTALL);

  private static final Pattern IF = Pattern.compile("\\bIF\\b", Pattern.CASE_INSENSITIVE);

  private final List<BatchableStatement<?>> held = new ArrayList<>();
  private final List<Footprint> footprints = new ArrayList<>(); // one of each that is held
  private long bytes;

  /** What can go into a batch with others. */
  static BatchableStatement<?> checked(BatchableStatement<?> write) {
    if (IF.matcher(QUOTED.matcher(textOf(write)).replaceAll("")).find()) {
      throw new IllegalArgumentException(
          "A statement with IF can't be held back, as its answer says whether it was applied:"
              + " execute it.");
    }
    if (write instanceof SimpleStatement simple && !simple.getNamedValues().isEmpty()) {
      throw new IllegalArgumentException(
          "A statement with named values can't be held back: use question marks, prepare it, or"
              + " execute it.");
    }
    if (write.getKeyspace() != null && write instanceof SimpleStatement) {
      throw new IllegalArgumentException(
          "A statement with a keyspace of its own can't be held back, as those that go together have"
              + " one for all: name the keyspace in its text, or execute it.");
    }
    return write;
  }

  private static String textOf(BatchableStatement<?> write) {
    if (write instanceof BoundStatement bound) {
      return bound.getPreparedStatement().getQuery();
    }
    return write instanceof SimpleStatement simple ? simple.getQuery() : "";
  }

  /**
   * Holds a write.
   *
   * @return what has to be sent now, as no more can be held
   */
  synchronized Optional<BatchStatement> add(BatchableStatement<?> write) {
    footprints.add(Footprint.ofWrite(write)); // first, as it may throw
    held.add(write);
    bytes += bytesOf(write);
    return held.size() >= MAX_STATEMENTS || bytes >= MAX_BYTES ? take() : Optional.empty();
  }

  /** Returns all, if the statement may see one of them, or is perhaps no read; else none. */
  synchronized Optional<BatchStatement> takeBefore(Statement<?> statement) {
    if (held.isEmpty()) {
      return Optional.empty();
    }
    Footprint read = Footprint.ofRead(statement);
    return footprints.stream().anyMatch(read::mayOverlap) ? take() : Optional.empty();
  }

  /** Returns all, in their order; empty if there are none. */
  synchronized Optional<BatchStatement> take() {
    if (held.isEmpty()) {
      return Optional.empty();
    }
    BatchStatement together = BatchStatement.newInstance(BatchType.UNLOGGED, List.copyOf(held));
    held.clear();
    footprints.clear();
    bytes = 0;
    return Optional.of(together);
  }

  private static long bytesOf(BatchableStatement<?> write) {
    long bytes = 0;
    if (write instanceof BoundStatement bound) {
      for (ByteBuffer value : bound.getValues()) {
        bytes += value == null ? 0 : value.remaining();
      }
    } else if (write instanceof SimpleStatement simple) {
      bytes += simple.getQuery().length();
      for (Object value : simple.getPositionalValues()) {
        bytes += bytesOf(value);
      }
    }
    return bytes;
  }

  private static long bytesOf(Object value) {
    if (value instanceof CharSequence text) {
      return text.length();
    }
    return value instanceof ByteBuffer blob ? blob.remaining() : BYTES_OF_A_NUMBER;
  }
}
