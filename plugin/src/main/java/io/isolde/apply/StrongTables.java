// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.concurrent.CompletableFuture;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.schema.TableMetadata;

/**
 * Transactional tables of strong keyspaces. Who leads the replica group of a partition is the one
 * who has all that is applied to it; a quorum of the replicas may lag behind its log. So commits go
 * through the groups' logs, and reads to their leaders.
 */
public interface StrongTables {
  /** Whether a keyspace is a strong one. Cheap. */
  boolean isStrong(String keyspace);

  /** The largest mutation that a group's log takes, in bytes as it is sent. */
  int maxMutationBytes(String keyspace);

  /**
   * Applies what a commit writes to a partition. What was applied before may come again.
   *
   * @return completes when all reads find it; fails if that is not certain
   */
  CompletableFuture<?> apply(Mutation mutation);

  /** Has leaders read what a query of a strong keyspace asks for. */
  ReadQuery atLeaders(ReadQuery query);

  /**
   * Above all timestamps of a keyspace's writes so far. Blocks.
   *
   * @throws org.apache.cassandra.exceptions.RequestExecutionException if a group has no leader
   */
  long newestTimestamp(String keyspace);

  /**
   * All later writes of a keyspace get timestamps above this one, in microseconds. Blocks. Does
   * nothing if it is not a strong one.
   *
   * @throws org.apache.cassandra.exceptions.RequestExecutionException if a group has no leader
   */
  void passTimestamp(String keyspace, long timestamp);

  /**
   * A table is about to be truncated: what leaders decide on by what it has is not written from now
   * on, until that has happened. It would outlive what it was made of. Blocks.
   *
   * @param millis for so long at most
   * @throws org.apache.cassandra.exceptions.RequestExecutionException if a group has no leader
   */
  void holdDecisions(TableMetadata table, long millis);

  /** The table is not truncated after all. Does not block. */
  void releaseDecisions(TableMetadata table);

  /**
   * Removes what a table has up to a timestamp, in microseconds, that all groups of its keyspace
   * have passed. Returns when no read through a leader finds any of it, now or later. Blocks.
   *
   * @throws io.isolde.error.IsoldeException CHANGE_FAILED if some groups may not have done it; the
   *     same again does the rest
   */
  void truncate(TableMetadata table, long upTo);
}
