// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.conflict.ReadSet;
import io.isolde.read.ReadRecorder;
import java.util.Collection;
import java.util.UUID;
import java.util.function.Consumer;
import org.apache.cassandra.db.DataRange;
import org.apache.cassandra.db.DecoratedKey;
import org.apache.cassandra.db.filter.ClusteringIndexFilter;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Lets a read of a snapshot wait until what it is about to read is not in doubt. The ids are those
 * that a serializable transaction would record.
 */
final class InDoubtWait implements ReadRecorder {
  private final InDoubt inDoubt;
  private final long asOf;
  private final UUID transactionId;
  private final ReadRecorder recorder;

  private InDoubtWait(InDoubt inDoubt, long asOf, UUID transactionId, ReadRecorder recorder) {
    this.inDoubt = inDoubt;
    this.asOf = asOf;
    this.transactionId = transactionId;
    this.recorder = recorder;
  }

  /**
   * The recorder of a read, which only waits if it has to.
   *
   * @param asOf the snapshot; it was given to this node before
   * @param transactionId null for a single statement
   */
  static ReadRecorder of(InDoubt inDoubt, long asOf, UUID transactionId, ReadRecorder recorder) {
    // What is in doubt in a snapshot is known before the snapshot is: later there is only less.
    return inDoubt.isPossible()
        ? new InDoubtWait(inDoubt, asOf, transactionId, recorder)
        : recorder;
  }

  @Override
  public void partition(
      TableMetadata table, DecoratedKey key, ClusteringIndexFilter rows, boolean statics) {
    await(read -> read.partition(table, key, rows, statics));
    recorder.partition(table, key, rows, statics);
  }

  @Override
  public void range(TableMetadata table, DataRange range) {
    await(read -> read.range(table, range));
    recorder.range(table, range);
  }

  /** A replica may not have applied a commit that makes a row match no longer. */
  @Override
  public void matching(TableMetadata table, DataRange range, Collection<Condition> conditions) {
    await(read -> read.range(table, range));
    recorder.matching(table, range, conditions);
  }

  private void await(Consumer<ReadRecorder> reading) {
    ReadSet read = new ReadSet(Integer.MAX_VALUE);
    reading.accept(read);
    var unused = inDoubt.await(read.ids(), asOf, read::find, transactionId);
  }
}
