// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The command line of a node, as the lines of an argument file for the Java launcher. */
final class JvmArguments {

  /** What Cassandra 5.0 needs on Java 17, as in its own jvm17-server.options. */
  private static final List<String> MODULES =
      List.of(
          "--add-exports=java.base/jdk.internal.misc=ALL-UNNAMED",
          "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-exports=java.base/java.lang.ref=ALL-UNNAMED",
          "--add-exports=java.base/java.lang.reflect=ALL-UNNAMED",
          "--add-exports=java.management.rmi/com.sun.jmx.remote.internal.rmi=ALL-UNNAMED",
          "--add-exports=java.rmi/sun.rmi.registry=ALL-UNNAMED",
          "--add-exports=java.rmi/sun.rmi.server=ALL-UNNAMED",
          "--add-exports=java.sql/java.sql=ALL-UNNAMED",
          "--add-exports=jdk.attach/sun.tools.attach=ALL-UNNAMED",
          "--add-exports=jdk.compiler/com.sun.tools.javac.file=ALL-UNNAMED",
          "--add-exports=jdk.unsupported/sun.misc=ALL-UNNAMED",
          "--add-opens=java.base/java.io=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED",
          "--add-opens=java.base/java.lang.module=ALL-UNNAMED",
          "--add-opens=java.base/java.nio=ALL-UNNAMED",
          "--add-opens=java.base/java.util=ALL-UNNAMED",
          "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
          "--add-opens=java.base/java.util.concurrent.atomic=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.loader=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.math=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.module=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.reflect=ALL-UNNAMED",
          "--add-opens=java.base/jdk.internal.util.jar=ALL-UNNAMED",
          "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
          "--add-opens=jdk.management/com.sun.management.internal=ALL-UNNAMED");

  private static final String MAIN_CLASS = "org.apache.cassandra.service.CassandraDaemon";

  private JvmArguments() {}

  /** Returns the content of the argument file of a node. */
  static String file(NodeSpec spec, NodeFolder folder, Distribution distribution) {
    return of(spec, folder, distribution).stream()
        .map(JvmArguments::quoted)
        .collect(Collectors.joining("\n", "", "\n"));
  }

  private static List<String> of(NodeSpec spec, NodeFolder folder, Distribution distribution) {
    List<String> arguments = new ArrayList<>();
    arguments.add("-Xms%dm".formatted(spec.heapMegabytes()));
    arguments.add("-Xmx%dm".formatted(spec.heapMegabytes()));
    arguments.add("-Xss256k");
    arguments.add("-XX:+UseG1GC");
    arguments.add("-XX:MaxGCPauseMillis=300");
    // Memtables come in arrays of a little more than 1 MB. With the regions of 1 MB that small
    // heaps have by default, each takes two of them.
    arguments.add("-XX:G1HeapRegionSize=4m");
    arguments.add("-XX:+PerfDisableSharedMem");
    arguments.add("-XX:+ExitOnOutOfMemoryError");
    arguments.add("-XX:+HeapDumpOnOutOfMemoryError");
    arguments.add("-XX:HeapDumpPath=" + folder.logs());
    arguments.add("-XX:ErrorFile=" + folder.logs().resolve("jvm-crash.log"));
    arguments.add("-ea");
    arguments.add("-javaagent:" + distribution.jammAgent());
    arguments.addAll(MODULES);
    property(arguments, "jdk.attach.allowAttachSelf", "true");
    property(arguments, "io.netty.tryReflectionSetAccessible", "true");
    property(arguments, "java.net.preferIPv4Stack", "true");
    property(arguments, "java.io.tmpdir", folder.temporary().toString());
    property(arguments, "logback.configurationFile", folder.logback().toUri().toString());
    property(arguments, "cassandra.config", folder.cassandraYaml().toUri().toString());
    property(arguments, "cassandra.storagedir", folder.path().toString());
    property(arguments, "cassandra.logdir", folder.logs().toString());
    property(arguments, "cassandra-foreground", "yes");
    // A local cluster needs no time for news to spread, so none is waited for.
    property(arguments, "cassandra.skip_wait_for_gossip_to_settle", "0");
    property(arguments, "cassandra.ring_delay_ms", "1000");
    // By default twice the ring delay, and after half of it a node that is up and has no tokens yet
    // counts as gone: nodes that start together would remove one another, and from then on never
    // ask one another for the schema (CASSANDRA-17883). This is what other clusters have.
    property(arguments, "cassandra.gossip_quarantine_delay_ms", "60000");
    property(arguments, "cassandra.shutdown_announce_in_ms", "500");
    // A change of the schema that was not pushed, or got lost, is fetched after seconds, not
    // minutes.
    property(arguments, "cassandra.migration_delay_ms", "2000");
    property(arguments, "cassandra.schema_pull_interval_ms", "5000");
    property(arguments, "cassandra.consistent.rangemovement", "false");
    // Before it starts, Cassandra measures with 100,000 rows what one costs in memory, which is a
    // second of a core. A hundredth of them gives the same bytes.
    property(arguments, "cassandra.memtable_row_overhead_computation_step", "1000");
    addJmx(arguments, spec);
    if (spec.hasPlugin()) {
      property(arguments, "isolde.config", folder.isoldeYaml().toUri().toString());
    }
    arguments.addAll(archive(spec, distribution).jvmOptions(isOwn(spec)));
    spec.systemProperties().forEach((name, value) -> property(arguments, name, value));
    arguments.addAll(spec.jvmOptions());
    arguments.add("-classpath");
    arguments.add(
        classPath(spec, distribution).stream()
            .map(Path::toString)
            .collect(Collectors.joining(File.pathSeparator)));
    arguments.add(MAIN_CLASS);
    return arguments;
  }

  /**
   * The agent of the JDK instead of Cassandra's own, because only the former can listen on one
   * address; the nodes of a cluster share the port.
   */
  private static void addJmx(List<String> arguments, NodeSpec spec) {
    String port = Integer.toString(spec.jmxPort());
    property(arguments, "com.sun.management.jmxremote.host", spec.address());
    property(arguments, "com.sun.management.jmxremote.port", port);
    property(arguments, "com.sun.management.jmxremote.rmi.port", port);
    property(arguments, "com.sun.management.jmxremote.authenticate", "false");
    property(arguments, "com.sun.management.jmxremote.ssl", "false");
    property(arguments, "java.rmi.server.hostname", spec.address());
  }

  /** What is added comes last: Java takes an archive of the classes of the path's beginning. */
  private static List<Path> classPath(NodeSpec spec, Distribution distribution) {
    List<Path> entries = ownClassPath(spec, distribution);
    entries.addAll(spec.classPath());
    return entries;
  }

  private static List<Path> ownClassPath(NodeSpec spec, Distribution distribution) {
    List<Path> entries = new ArrayList<>();
    if (spec.hasPlugin()) {
      entries.add(distribution.pluginJar());
    }
    entries.addAll(distribution.cassandraJars());
    return entries;
  }

  /** The classes of a node, without those of entries that were added. */
  static ClassArchive archive(NodeSpec spec, Distribution distribution) {
    return ClassArchive.of(distribution.cassandra(), ownClassPath(spec, distribution));
  }

  /** Whether nothing is added to the class path of the archive. */
  private static boolean isOwn(NodeSpec spec) {
    return spec.classPath().isEmpty();
  }

  private static void property(List<String> arguments, String name, String value) {
    arguments.add("-D" + name + "=" + value);
  }

  /** The launcher's own quoting: a backslash escapes inside of double quotes. */
  private static String quoted(String argument) {
    return '"' + argument.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }
}
