// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.table;

import io.isolde.snapshot.SnapshotTag;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Keyspaces;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.TableMetadata;

/** The snapshots that are in the schema. */
public final class SnapshotCatalog {
  private SnapshotCatalog() {}

  /**
   * A snapshot with all of its tables; they agree in all but the source and the kind of cut.
   *
   * @param tables at least one
   */
  public record Snapshot(UUID creation, List<TableMetadata> tables) {
    /** Returns what any of its tables says, for what all agree in. */
    public SnapshotTag tag() {
      return SnapshotTag.of(tables.get(0)).orElseThrow();
    }

    /** Whether it can be read: a decision is about all tables at once. */
    public boolean isReady() {
      return tables.stream().allMatch(table -> SnapshotTag.of(table).orElseThrow().isReady());
    }
  }

  /** Returns all, by name. */
  public static Collection<Snapshot> all() {
    return in(Schema.instance.distributedKeyspaces());
  }

  static Collection<Snapshot> in(Keyspaces keyspaces) {
    Map<String, Snapshot> byName = new TreeMap<>();
    for (KeyspaceMetadata keyspace : keyspaces) {
      for (TableMetadata table : keyspace.tables) {
        SnapshotTag.of(table)
            .ifPresent(
                tag ->
                    byName
                        .computeIfAbsent(
                            tag.snapshot() + " " + tag.creation(),
                            key -> new Snapshot(tag.creation(), new ArrayList<>()))
                        .tables
                        .add(table));
      }
    }
    return byName.values();
  }

  /** Returns the snapshot of this name, ready or not. */
  public static Optional<Snapshot> find(String name) {
    return all().stream().filter(snapshot -> snapshot.tag().snapshot().equals(name)).findFirst();
  }
}
