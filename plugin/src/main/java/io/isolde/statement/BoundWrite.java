// SPDX-License-Identifier: Apache-2.0
package io.isolde.statement;

import com.google.common.collect.Iterables;
import io.isolde.unique.UniqueKey;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.cassandra.cql3.BatchQueryOptions;
import org.apache.cassandra.cql3.QueryOptions;
import org.apache.cassandra.cql3.statements.BatchStatement;
import org.apache.cassandra.cql3.statements.ModificationStatement;
import org.apache.cassandra.service.ClientState;
import org.apache.cassandra.utils.ByteBufferUtil;

/** A statement of a batch with its own bound values, or a single one. */
public record BoundWrite(ModificationStatement statement, QueryOptions options) {
  /** Those of a batch. */
  public static List<BoundWrite> of(BatchStatement batch, BatchQueryOptions options) {
    List<BoundWrite> writes = new ArrayList<>();
    for (ModificationStatement statement : batch.getStatements()) {
      writes.add(new BoundWrite(statement, options.forStatement(writes.size())));
    }
    return writes;
  }

  /** The key of the partition that it writes to; of the first one, or empty, if it is not one. */
  public ByteBuffer partitionKey(ClientState client) {
    return Iterables.getFirst(
        statement.buildPartitionKeyNames(options, client), ByteBufferUtil.EMPTY_BYTE_BUFFER);
  }

  /**
   * Whether it reads its row without having to say so: lists by index or value, and numbers that
   * something is added to.
   */
  public boolean readsWithoutCondition() {
    return statement.requiresRead() && !statement.hasConditions();
  }

  /** Whether it adds to numbers without IF, which Cassandra does not know. */
  public boolean addsWithoutCondition() {
    return readsWithoutCondition()
        && Iterables.any(statement.allOperations(), ValueChange.class::isInstance);
  }

  /** Whether any of them reads before it writes. */
  public static boolean read(List<BoundWrite> writes) {
    return haveConditions(writes)
        || writes.stream()
            .anyMatch(
                write -> write.readsWithoutCondition() || UniqueKey.mayChange(write.statement));
  }

  /** Whether any of them has an IF. */
  public static boolean haveConditions(List<BoundWrite> writes) {
    return writes.stream().anyMatch(write -> write.statement.hasConditions());
  }
}
