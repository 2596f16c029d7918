// SPDX-License-Identifier: Apache-2.0
package io.isolde.snapshot.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.io.sstable.Component;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.SSTable;
import org.apache.cassandra.io.sstable.format.SSTableFormat.Components;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.sstable.format.TOCComponent;
import org.apache.cassandra.io.util.File;
import org.apache.cassandra.service.ActiveRepairService;
import org.apache.cassandra.utils.SyncUtil;

/** SSTables of another table by hard links: the same bytes on disk under a second name. */
final class SSTableLinks {
  private final ColumnFamilyStore target;

  SSTableLinks(ColumnFamilyStore target) {
    this.target = target;
  }

  /** Links an SSTable into the target's folder on the same disk, and opens it there. */
  SSTableReader link(SSTableReader source) throws IOException {
    Descriptor link = target.newSSTableDescriptor(folderBeside(source), source.descriptor.version);
    Set<Component> components = new HashSet<>(source.descriptor.getFormat().allComponents());
    components.retainAll(source.getComponents());
    // Cassandra appends to it, in place.
    components.remove(Components.TOC);
    // The data last: without it a restart takes the rest for left-overs, and removes them.
    SSTable.hardlink(source.descriptor, link, components);
    components.add(Components.TOC);
    TOCComponent.updateTOC(link, components);
    if (!source.isRepaired()) {
      markRepaired(link);
    }
    SyncUtil.trySyncDir(link.directory);
    return SSTableReader.open(target, link, components, target.metadata);
  }

  /** The file is replaced, not changed; and, unlike those that were linked, not on disk yet. */
  private static void markRepaired(Descriptor link) throws IOException {
    link.getMetadataSerializer()
        .mutateRepairMetadata(
            link, Repaired.AT_MILLIS, ActiveRepairService.NO_PENDING_REPAIR, false);
    Path statistics = link.fileFor(Components.STATS).toPath();
    try (FileChannel channel = FileChannel.open(statistics, StandardOpenOption.WRITE)) {
      SyncUtil.force(channel, true);
    }
  }

  /** Files can't be linked from one disk to another. */
  private File folderBeside(SSTableReader source) {
    Path disk = dataFolderOf(source.descriptor.directory);
    for (File folder : target.getDirectories().getCFDirectories()) {
      if (dataFolderOf(folder).equals(disk)) {
        return folder;
      }
    }
    throw new IllegalStateException("There is no folder of " + target.name + " in " + disk + ".");
  }

  /** The tables of a keyspace have their folders in the keyspace's, which is in the disk's. */
  private static Path dataFolderOf(File table) {
    return table.toPath().toAbsolutePath().normalize().getParent();
  }
}
