// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * Where nodes come from: the folder with the jars of Cassandra, the jar of the plugin, and the Java
 * virtual machine that runs this process.
 *
 * @param cassandra the folder with the jars of Cassandra and all that it needs
 * @param plugin the jar of the plugin; only nodes that use the plugin need it
 */
public record Distribution(Path cassandra, Optional<Path> plugin) {

  /** Names the folder with the jars of Cassandra. */
  public static final String CASSANDRA_PROPERTY = "isolde.cassandra.dir";

  /** Names the jar of the plugin. */
  public static final String PLUGIN_PROPERTY = "isolde.plugin.jar";

  /**
   * Names, in the environment, a folder in which this project was built. Its jars are taken where
   * the system properties name none.
   */
  public static final String HOME_VARIABLE = "ISOLDE_HOME";

  static final String QUERY_HANDLER = "io.isolde.cql.IsoldeQueryHandler";

  private static final String CASSANDRA_JAR = "cassandra-all-";
  private static final int JAVA_VERSION = 17;

  /**
   * Returns the distribution that the system properties of this process describe, or else the
   * {@value #HOME_VARIABLE} of its environment.
   */
  public static Distribution ofSystemProperties() {
    Optional<Path> home = Optional.ofNullable(System.getenv(HOME_VARIABLE)).map(Path::of);
    return new Distribution(
        property(CASSANDRA_PROPERTY)
            .or(() -> home.map(folder -> folder.resolve("cluster/target/cassandra")))
            .orElseThrow(
                () ->
                    missing(
                        ("The system property %s is not set. It names the folder with the jars of"
                                + " Cassandra, which the build puts into cluster/target/cassandra."
                                + " Or let %s name the folder in which Isolde was built.")
                            .formatted(CASSANDRA_PROPERTY, HOME_VARIABLE))),
        property(PLUGIN_PROPERTY)
            .or(() -> home.map(folder -> folder.resolve("plugin/target/isolde.jar"))));
  }

  private static Optional<Path> property(String name) {
    return Optional.ofNullable(System.getProperty(name)).map(Path::of);
  }

  /** Returns the Java launcher that runs the nodes: the one of this process. */
  static Path java() {
    int version = Runtime.version().feature();
    if (version != JAVA_VERSION) {
      throw new ClusterException(
          Reason.WRONG_JAVA,
          "Cassandra 5.0 runs on Java %d; this is Java %d at %s. Set JAVA_HOME to a JDK %d."
              .formatted(JAVA_VERSION, version, System.getProperty("java.home"), JAVA_VERSION));
    }
    return Path.of(System.getProperty("java.home"), "bin", "java");
  }

  /** Returns the version of Cassandra, as the name of its jar says. */
  public String cassandraVersion() {
    return cassandraJars().stream()
        .map(Distribution::nameOf)
        .filter(name -> name.startsWith(CASSANDRA_JAR))
        .map(name -> name.substring(CASSANDRA_JAR.length(), name.length() - ".jar".length()))
        .findFirst()
        .orElseThrow();
  }

  /** Returns the jars of a stock node, in a fixed order. */
  List<Path> cassandraJars() {
    List<Path> jars = jarsIn(cassandra);
    if (jars.stream().noneMatch(jar -> nameOf(jar).startsWith(CASSANDRA_JAR))) {
      throw missing(
          ("The folder %s holds no cassandra-all jar. Build the project, or let the system property"
                  + " %s name the folder with the jars of Cassandra.")
              .formatted(cassandra.toAbsolutePath(), CASSANDRA_PROPERTY));
    }
    return jars;
  }

  /** Returns the agent that measures objects, without which Cassandra doesn't start. */
  Path jammAgent() {
    return cassandraJars().stream()
        .filter(jar -> nameOf(jar).startsWith("jamm-"))
        .findFirst()
        .orElseThrow(
            () ->
                missing("The folder %s holds no jamm jar.".formatted(cassandra.toAbsolutePath())));
  }

  /** Returns the plugin's jar after a check that it is one. */
  Path pluginJar() {
    Path jar =
        plugin.orElseThrow(
            () ->
                missing(
                    ("The system property %s is not set. It names the jar of the plugin, which the"
                            + " build puts into plugin/target/isolde.jar.")
                        .formatted(PLUGIN_PROPERTY)));
    if (!Files.isRegularFile(jar)) {
      throw missing(
          "The plugin's jar %s does not exist. Build the project.".formatted(jar.toAbsolutePath()));
    }
    try (JarFile file = new JarFile(jar.toFile())) {
      if (file.getEntry(QUERY_HANDLER.replace('.', '/') + ".class") == null) {
        throw missing(
            "The jar %s is not the plugin: it has no class %s."
                .formatted(jar.toAbsolutePath(), QUERY_HANDLER));
      }
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "The jar %s can't be read.".formatted(jar), e);
    }
    return jar.toAbsolutePath();
  }

  private static List<Path> jarsIn(Path folder) {
    if (!Files.isDirectory(folder)) {
      throw missing(
          "The folder %s with the jars of Cassandra does not exist. Build the project."
              .formatted(folder.toAbsolutePath()));
    }
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .filter(file -> nameOf(file).endsWith(".jar"))
          .map(Path::toAbsolutePath)
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new ClusterException(Reason.IO, "The folder %s can't be read.".formatted(folder), e);
    }
  }

  private static String nameOf(Path file) {
    return file.getFileName().toString();
  }

  private static ClusterException missing(String message) {
    return new ClusterException(Reason.DISTRIBUTION_MISSING, message);
  }
}
