// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import java.util.Collections;
import java.util.Set;
import org.apache.cassandra.db.ColumnFamilyStore;
import org.apache.cassandra.db.lifecycle.LifecycleTransaction;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.io.sstable.Component;
import org.apache.cassandra.io.sstable.Descriptor;
import org.apache.cassandra.io.sstable.IScrubber;
import org.apache.cassandra.io.sstable.MetricsProviders;
import org.apache.cassandra.io.sstable.format.SSTableFormat;
import org.apache.cassandra.io.sstable.format.SSTableReader;
import org.apache.cassandra.io.sstable.format.SSTableWriter;
import org.apache.cassandra.io.sstable.format.Version;
import org.apache.cassandra.utils.OutputHandler;

/**
 * On the list of the formats of SSTables, since Cassandra wants one of each factory: without files,
 * components and metrics, which are what it asks all formats for. It refuses to be chosen.
 *
 * <p>Not a proxy of the interface: that would initialise the classes of all parameters, before
 * Cassandra has applied its settings.
 */
final class NoFormat implements SSTableFormat<SSTableReader, SSTableWriter> {
  private final String name;

  NoFormat(String name) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Component> allComponents() {
    return Collections.emptySet();
  }

  @Override
  public Set<Component> primaryComponents() {
    return Collections.emptySet();
  }

  @Override
  public Set<Component> batchComponents() {
    return Collections.emptySet();
  }

  @Override
  public Set<Component> uploadComponents() {
    return Collections.emptySet();
  }

  @Override
  public Set<Component> mutableComponents() {
    return Collections.emptySet();
  }

  @Override
  public Set<Component> generatedOnLoadComponents() {
    return Collections.emptySet();
  }

  @Override
  public MetricsProviders getFormatSpecificMetricsProviders() {
    return Collections::emptyList;
  }

  @Override
  public Version getLatestVersion() {
    throw refused();
  }

  @Override
  public Version getVersion(String version) {
    throw refused();
  }

  @Override
  public SSTableWriterFactory<SSTableWriter, ?> getWriterFactory() {
    throw refused();
  }

  @Override
  public SSTableReaderFactory<SSTableReader, ?> getReaderFactory() {
    throw refused();
  }

  @Override
  public KeyCacheValueSerializer<SSTableReader, ?> getKeyCacheValueSerializer() {
    throw refused();
  }

  @Override
  public IScrubber getScrubber(
      ColumnFamilyStore table,
      LifecycleTransaction transaction,
      OutputHandler output,
      IScrubber.Options options) {
    throw refused();
  }

  @Override
  public void deleteOrphanedComponents(Descriptor descriptor, Set<Component> components) {
    throw refused();
  }

  @Override
  public void delete(Descriptor descriptor) {
    throw refused();
  }

  private ConfigurationException refused() {
    return new ConfigurationException(
        String.format(
            "\"%s\" is no format to write SSTables in: set selected_format in cassandra.yaml to big"
                + " or bti.",
            name),
        false);
  }
}
