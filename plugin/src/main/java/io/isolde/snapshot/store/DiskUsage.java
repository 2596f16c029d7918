// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.io.sstable.Component;
import org.apache.cassandra.io.sstable.format.SSTableReader;

/**
 * What a snapshot's table takes on this node.
 *
 * @param sstables how many
 * @param ownBytes in files that go with the snapshot
 * @param sharedBytes in files that another table, a snapshot or a backup has too
 */
public record DiskUsage(int sstables, long ownBytes, long sharedBytes) {
  public static final DiskUsage NONE = new DiskUsage(0, 0, 0);

  /** Looks at the files as they are now. */
  public static DiskUsage of(ColumnFamilyStore table) {
    DiskUsage usage = NONE;
    for (SSTableReader sstable : table.getLiveSSTables()) {
      usage = usage.plus(of(sstable));
    }
    return usage;
  }

  private static DiskUsage of(SSTableReader sstable) {
    DiskUsage usage = new DiskUsage(1, 0, 0);
    for (Component component : sstable.getComponents()) {
      usage = usage.plus(of(sstable.descriptor.fileFor(component).toPath()));
    }
    return usage;
  }

  private static DiskUsage of(Path file) {
    try {
      long bytes = Files.size(file);
      boolean isShared = (Integer) Files.getAttribute(file, "unix:nlink") > 1;
      return isShared ? new DiskUsage(0, 0, bytes) : new DiskUsage(0, bytes, 0);
    } catch (IOException e) {
      return NONE; // gone meanwhile, or never written
    }
  }

  public DiskUsage plus(DiskUsage other) {
    return new DiskUsage(
        sstables + other.sstables, ownBytes + other.ownBytes, sharedBytes + other.sharedBytes);
  }
}
