// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import java.util.Map;
import org.apache.cassandra.config.CassandraRelevantProperties;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.exceptions.ConfigurationException;
import org.apache.cassandra.io.sstable.format.SSTableFormat;

/**
 * Makes the jar alone enough. Cassandra looks for formats of SSTables in all jars, as the first
 * thing after its settings are read. Then this one sets the query handler. What it makes is {@link
 * NoFormat}.
 *
 * <p>These two classes are compiled for Java 11, on which Cassandra 5.0 runs too, so that a
 * sentence says what is missing there. Hence they may use nothing else of Isolde.
 */
public final class IsoldeFormatFactory implements SSTableFormat.Factory {
  static final String HANDLER = "io.isolde.cql.IsoldeQueryHandler";

  private static final String NAME = "isolde";
  private static final int JAVA_VERSION = 17;

  /** Called by Cassandra, by reflection. */
  public IsoldeFormatFactory() {}

  /**
   * The first that Cassandra asks for. What is thrown here stops the start with just this sentence;
   * of {@link #getInstance} it would be the cause of another error.
   */
  @Override
  public String name() {
    // Tools and clients also load formats, and must not become nodes.
    if (DatabaseDescriptor.isDaemonInitialized()) {
      install(Runtime.version().feature());
    }
    return NAME;
  }

  static void install(int javaVersion) {
    if (javaVersion < JAVA_VERSION) {
      throw new ConfigurationException(
          String.format(
              "Isolde needs Java %d, and this is Java %d: start Cassandra with Java %d, or take"
                  + " Isolde's jar out of its lib folder (not while tables are transactional).",
              JAVA_VERSION, javaVersion, JAVA_VERSION),
          false);
    }
    String other = CassandraRelevantProperties.CUSTOM_QUERY_HANDLER_CLASS.getString();
    if (other != null && !other.equals(HANDLER)) {
      throw new ConfigurationException(
          String.format(
              "Isolde needs to be the query handler of this node, and -D%s=%s sets another one,"
                  + " past which transactions would go. Take this option away, or Isolde's jar out"
                  + " of the lib folder (not while tables are transactional).",
              CassandraRelevantProperties.CUSTOM_QUERY_HANDLER_CLASS.getKey(), other),
          false);
    }
    CassandraRelevantProperties.CUSTOM_QUERY_HANDLER_CLASS.setString(HANDLER);
  }

  @Override
  public SSTableFormat<?, ?> getInstance(Map<String, String> options) {
    return new NoFormat(NAME);
  }
}
