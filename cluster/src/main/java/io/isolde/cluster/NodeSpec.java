// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.File;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How a node is to be set up. Immutable: every {@code with…} returns a changed copy.
 *
 * <p>Internally it is the very text that lies in the node's folder as {@code node.properties}: one
 * entry per setting, where the four families of free settings carry a prefix.
 */
public final class NodeSpec {

  private static final String ADDRESS = "address";
  private static final String NATIVE_PORT = "native_port";
  private static final String STORAGE_PORT = "storage_port";
  private static final String JMX_PORT = "jmx_port";
  private static final String HEAP_MEGABYTES = "heap_megabytes";
  private static final String PLUGIN = "plugin";
  private static final String EPHEMERAL = "ephemeral";
  private static final String NETWORK_NAMESPACE = "network_namespace";
  private static final String JVM_OPTIONS = "jvm_options";
  private static final String CLASS_PATH = "class_path";
  private static final String CASSANDRA_FOLDER = "cassandra_folder";
  private static final String PLUGIN_JAR = "plugin_jar";
  private static final String CASSANDRA = "cassandra.";
  private static final String ISOLDE = "isolde.";
  private static final String SYSTEM = "system.";
  private static final String ENVIRONMENT = "environment.";

  private static final String NUM_TOKENS = "num_tokens";
  private static final String DEFAULT_TOKENS = "16";

  private static final int MINIMUM_HEAP_MEGABYTES = 256;
  private static final int MAX_TOKENS = 1536; // as Cassandra
  private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");

  private final SortedMap<String, String> entries;

  private NodeSpec(SortedMap<String, String> entries) {
    this.entries = Collections.unmodifiableSortedMap(entries);
  }

  /**
   * Returns the default: with the plugin, a heap of 512 MB, on 127.0.0.1 with Cassandra's usual
   * ports, outliving the process that starts it.
   */
  public static NodeSpec standard() {
    return new NodeSpec(new TreeMap<>())
        .withAddress("127.0.0.1")
        .withNativePort(9042)
        .withStoragePort(7000)
        .withJmxPort(7199)
        .withHeapMegabytes(512)
        .withPlugin(true)
        .withEphemeral(false);
  }

  static NodeSpec ofEntries(Map<String, String> entries) {
    TreeMap<String, String> all = new TreeMap<>(standard().entries);
    all.putAll(entries);
    return new NodeSpec(all);
  }

  Map<String, String> entries() {
    return entries;
  }

  /**
   * The IPv4 address of all three ports. Further nodes of a cluster follow on the next addresses.
   */
  public NodeSpec withAddress(String address) {
    if (!IPV4.matcher(address).matches()) {
      throw illegal(
          "The address \"%s\" is not an IPv4 address such as 127.0.0.1.".formatted(address));
    }
    return with(ADDRESS, address);
  }

  /** The port for CQL clients; 9042 unless told. */
  public NodeSpec withNativePort(int port) {
    return withPort(NATIVE_PORT, port);
  }

  /** The port for the other nodes, the same on every node of a cluster; 7000 unless told. */
  public NodeSpec withStoragePort(int port) {
    return withPort(STORAGE_PORT, port);
  }

  /** The port for JMX, open without a password to this machine; 7199 unless told. */
  public NodeSpec withJmxPort(int port) {
    return withPort(JMX_PORT, port);
  }

  /**
   * The heap, 512 unless told; the process takes some 500 MB more. Less than 256 is refused, since
   * Cassandra then spends its time collecting garbage.
   */
  public NodeSpec withHeapMegabytes(int megabytes) {
    if (megabytes < MINIMUM_HEAP_MEGABYTES) {
      throw illegal(
          "A heap of %d MB is too small for a node; the least is %d MB."
              .formatted(megabytes, MINIMUM_HEAP_MEGABYTES));
    }
    return with(HEAP_MEGABYTES, megabytes);
  }

  /** Whether the node runs with the plugin (the default) or as stock Cassandra. */
  public NodeSpec withPlugin(boolean plugin) {
    return with(PLUGIN, plugin);
  }

  /** Whether the node dies with the process that starts it, even if that is killed. */
  public NodeSpec withEphemeral(boolean ephemeral) {
    return with(EPHEMERAL, ephemeral);
  }

  /**
   * The network namespace of Linux that the process runs in, as {@code ip netns add} makes it; that
   * of the process that starts it unless told. Its ports can't be checked beforehand then.
   */
  public NodeSpec withNetworkNamespace(String name) {
    return with(NETWORK_NAMESPACE, name);
  }

  /** Adds an option of the Java virtual machine, after (and so over) those of this module. */
  public NodeSpec withJvmOption(String option) {
    return with(JVM_OPTIONS, joined("\n", jvmOptions(), option));
  }

  /** Adds a jar or a folder to the class path, after the jars of Cassandra and of the plugin. */
  public NodeSpec withClassPathEntry(Path entry) {
    String path = entry.toAbsolutePath().toString();
    return with(
        CLASS_PATH,
        joined(File.pathSeparator, classPath().stream().map(Path::toString).toList(), path));
  }

  /** Adds the jar or the folder that has a class of the program that starts the node. */
  public NodeSpec withClassesOf(Class<?> one) {
    try {
      return withClassPathEntry(
          Path.of(one.getProtectionDomain().getCodeSource().getLocation().toURI()));
    } catch (URISyntaxException e) {
      throw new ClusterException(Reason.IO, "The jar of %s can't be found.".formatted(one), e);
    }
  }

  /**
   * The folder with the jars of another Cassandra than that of {@link Distribution}, for nodes
   * without the plugin.
   */
  public NodeSpec withCassandraFolder(Path folder) {
    return with(CASSANDRA_FOLDER, folder.toAbsolutePath());
  }

  /** The jar of another build of the plugin than that of {@link Distribution}. */
  public NodeSpec withPluginJar(Path jar) {
    return with(PLUGIN_JAR, jar.toAbsolutePath());
  }

  /** Sets an entry of cassandra.yaml; the value is YAML on one line, such as {@code [a, b]}. */
  public NodeSpec withCassandraSetting(String name, String yaml) {
    return with(CASSANDRA + name, yaml);
  }

  /** Sets an entry of isolde.yaml; the value is YAML on one line, such as {@code 5s}. */
  public NodeSpec withIsoldeSetting(String name, String yaml) {
    return with(ISOLDE + name, yaml);
  }

  /**
   * How many tokens (virtual nodes) the node has on the ring, from 1 to 1536; 16 unless set, as in
   * Cassandra. The same as the setting {@code num_tokens} of cassandra.yaml.
   */
  public NodeSpec withTokens(int tokens) {
    return withCassandraSetting(NUM_TOKENS, Integer.toString(tokens));
  }

  /** Sets a system property of the node. */
  public NodeSpec withSystemProperty(String name, String value) {
    return with(SYSTEM + name, value);
  }

  /** Sets a variable in the environment of the node. */
  public NodeSpec withEnvironment(String name, String value) {
    return with(ENVIRONMENT + name, value);
  }

  /** Returns the address of all three ports. */
  public String address() {
    return text(ADDRESS);
  }

  /** Returns the port for CQL clients. */
  public int nativePort() {
    return number(NATIVE_PORT);
  }

  /** Returns the port for the other nodes. */
  public int storagePort() {
    return number(STORAGE_PORT);
  }

  /** Returns the port for JMX. */
  public int jmxPort() {
    return number(JMX_PORT);
  }

  /** Returns the size of the heap. */
  public int heapMegabytes() {
    return number(HEAP_MEGABYTES);
  }

  /** Returns whether the node runs with the plugin. */
  public boolean hasPlugin() {
    return Boolean.parseBoolean(text(PLUGIN));
  }

  /** Returns whether the node dies with the process that starts it. */
  public boolean isEphemeral() {
    return Boolean.parseBoolean(text(EPHEMERAL));
  }

  /** Returns the network namespace; empty for that of the process that starts the node. */
  public String networkNamespace() {
    return text(NETWORK_NAMESPACE);
  }

  /** Returns the further options of the Java virtual machine. */
  public List<String> jvmOptions() {
    return split("\n", JVM_OPTIONS).toList();
  }

  /** Returns the further entries of the class path. */
  public List<Path> classPath() {
    return split(File.pathSeparator, CLASS_PATH).map(Path::of).toList();
  }

  /** Returns the folder with the jars of another Cassandra, if there is to be one. */
  public Optional<Path> cassandraFolder() {
    return path(CASSANDRA_FOLDER);
  }

  /** Returns the jar of another build of the plugin, if there is to be one. */
  public Optional<Path> pluginJar() {
    return path(PLUGIN_JAR);
  }

  /** Returns how many tokens the node has on the ring. */
  public int tokens() {
    String tokens = cassandraSettings().getOrDefault(NUM_TOKENS, DEFAULT_TOKENS);
    if (!tokens.matches("\\d{1,4}")
        || Integer.parseInt(tokens) < 1
        || Integer.parseInt(tokens) > MAX_TOKENS) {
      throw illegal(
          "num_tokens is a number from 1 to %d, not \"%s\".".formatted(MAX_TOKENS, tokens));
    }
    return Integer.parseInt(tokens);
  }

  /** Returns the entries set for cassandra.yaml. */
  public SortedMap<String, String> cassandraSettings() {
    return family(CASSANDRA);
  }

  /** Returns the entries set for isolde.yaml. */
  public SortedMap<String, String> isoldeSettings() {
    return family(ISOLDE);
  }

  /** Returns the system properties set. */
  public SortedMap<String, String> systemProperties() {
    return family(SYSTEM);
  }

  /** Returns the variables set in the environment. */
  public SortedMap<String, String> environment() {
    return family(ENVIRONMENT);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof NodeSpec spec && spec.entries.equals(entries);
  }

  @Override
  public int hashCode() {
    return entries.hashCode();
  }

  @Override
  public String toString() {
    return "NodeSpec" + entries;
  }

  private NodeSpec withPort(String name, int port) {
    if (port < 1 || port > 65_535) {
      throw illegal("The port %d is not between 1 and 65535.".formatted(port));
    }
    return with(name, port);
  }

  private NodeSpec with(String name, Object value) {
    TreeMap<String, String> changed = new TreeMap<>(entries);
    changed.put(name, value.toString());
    return new NodeSpec(changed);
  }

  private String text(String name) {
    return entries.getOrDefault(name, "");
  }

  private Optional<Path> path(String name) {
    return Optional.of(text(name)).filter(path -> !path.isEmpty()).map(Path::of);
  }

  private int number(String name) {
    return Integer.parseInt(text(name));
  }

  private Stream<String> split(String separator, String name) {
    return Stream.of(text(name).split(Pattern.quote(separator), 0)).filter(part -> !part.isEmpty());
  }

  private static String joined(String separator, List<String> parts, String last) {
    return String.join(separator, Stream.concat(parts.stream(), Stream.of(last)).toList());
  }

  private SortedMap<String, String> family(String prefix) {
    TreeMap<String, String> members = new TreeMap<>();
    entries.forEach(
        (name, value) -> {
          if (name.startsWith(prefix)) {
            members.put(name.substring(prefix.length()), value);
          }
        });
    return members;
  }

  private static ClusterException illegal(String message) {
    return new ClusterException(Reason.ILLEGAL_SETTING, message);
  }
}
