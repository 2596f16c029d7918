// SPDX-License-Identifier: Apache-2.0
package io.isolde.apply;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.ReadQuery;
import org.apache.cassandra.schema.TableMetadata;

/** Strong keyspaces whose groups have no leader. */
public final class FailingStrongTables implements StrongTables {
  public final AtomicInteger attempts = new AtomicInteger();
  private final Set<String> keyspaces;
  private boolean succeeds;

  public FailingStrongTables(String... keyspaces) {
    this.keyspaces = Set.of(keyspaces);
  }

  /** From now on they have leaders. */
  void succeed() {
    succeeds = true;
  }

  @Override
  public boolean isStrong(String keyspace) {
    return keyspaces.contains(keyspace);
  }

  @Override
  public CompletableFuture<?> apply(Mutation mutation) {
    attempts.incrementAndGet();
    if (succeeds) {
      return CompletableFuture.completedFuture(null);
    }
    return CompletableFuture.failedFuture(new IllegalStateException("no leader"));
  }

  @Override
  public int maxMutationBytes(String keyspace) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ReadQuery atLeaders(ReadQuery query) {
    throw new UnsupportedOperationException();
  }

  @Override
  public long newestTimestamp(String keyspace) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void passTimestamp(String keyspace, long timestamp) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void holdDecisions(TableMetadata table, long millis) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void releaseDecisions(TableMetadata table) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void truncate(TableMetadata table, long upTo) {
    throw new UnsupportedOperationException();
  }
}
