// SPDX-License-Identifier: Apache-2.0
package io.isolde.version;

import java.util.Optional;
import java.util.concurrent.Callable;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.index.Index;
import org.apache.cassandra.schema.IndexMetadata;

/** An index that says something of its table in the schema, and has no files of its own. */
public abstract class IndexInSchema implements Index {
  @Override
  public final Optional<ColumnFamilyStore> getBackingTable() {
    return Optional.empty();
  }

  @Override
  public final boolean shouldBuildBlocking() {
    return false;
  }

  @Override
  public final Callable<?> getInitializationTask() {
    return null;
  }

  @Override
  public Callable<?> getMetadataReloadTask(IndexMetadata metadata) {
    return null;
  }

  @Override
  public final Callable<?> getBlockingFlushTask() {
    return null;
  }

  @Override
  public Callable<?> getInvalidateTask() {
    return null;
  }

  @Override
  public Callable<?> getTruncateTask(long truncatedAt) {
    return null;
  }
}
