// SPDX-License-Identifier: Apache-2.0
package io.isolde.cluster;

import io.isolde.cluster.ClusterException.Reason;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files of a node. Cassandra adds data, commitlog, hints, saved_caches and cdc_raw. */
record NodeFolder(Path path) {

  private static final String LOGBACK =
      """
      <configuration>
        <appender name="file" class="ch.qos.logback.core.rolling.RollingFileAppender">
          <file>${cassandra.logdir}/system.log</file>
          <rollingPolicy class="ch.qos.logback.core.rolling.FixedWindowRollingPolicy">
            <fileNamePattern>${cassandra.logdir}/system.log.%i</fileNamePattern>
            <maxIndex>4</maxIndex>
          </rollingPolicy>
          <triggeringPolicy class="ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy">
            <maxFileSize>20MB</maxFileSize>
          </triggeringPolicy>
          <encoder>
            <pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern>
          </encoder>
        </appender>
        <root level="INFO">
          <appender-ref ref="file"/>
        </root>
      </configuration>
      """;

  Path properties() {
    return path.resolve("node.properties");
  }

  Path pidFile() {
    return path.resolve("pid");
  }

  /** Held by whoever starts the process. */
  Path lockFile() {
    return path.resolve("lock");
  }

  Path logs() {
    return path.resolve("logs");
  }

  Path systemLog() {
    return logs().resolve("system.log");
  }

  /** What the process writes itself, mostly when it can't start. */
  Path output() {
    return logs().resolve("output.log");
  }

  /** Native libraries are unpacked here, so that a killed node leaves nothing elsewhere. */
  Path temporary() {
    return path.resolve("tmp");
  }

  Path cassandraYaml() {
    return conf().resolve("cassandra.yaml");
  }

  Path isoldeYaml() {
    return conf().resolve("isolde.yaml");
  }

  Path logback() {
    return conf().resolve("logback.xml");
  }

  Path jvmArguments() {
    return conf().resolve("jvm.args");
  }

  /** Returns whether the node has ever been started, because it has data then. */
  boolean hasData() {
    return Files.exists(path.resolve("data"));
  }

  private Path conf() {
    return path.resolve("conf");
  }

  /** Writes the configuration of a node and creates the folders that it doesn't create itself. */
  void write(NodeSpec spec) {
    createFolder(conf());
    createFolder(logs());
    createFolder(temporary());
    writeProperties(properties(), spec.entries());
    writeText(cassandraYaml(), CassandraYaml.cassandra(spec));
    writeText(isoldeYaml(), CassandraYaml.isolde(spec));
    writeText(logback(), LOGBACK);
  }

  /** Deletes what the node itself has written, but for its logs. */
  void wipe() {
    Set<Path> kept = Set.of(conf(), logs(), temporary(), properties(), pidFile(), lockFile());
    try (Stream<Path> entries = Files.list(path)) {
      for (Path entry : entries.filter(e -> !kept.contains(e)).toList()) {
        delete(entry);
      }
    } catch (IOException e) {
      throw failed("The folder %s can't be emptied.", path, e);
    }
  }

  /** Deletes a file, or a folder with all that is in it. */
  static void delete(Path top) throws IOException {
    try (Stream<Path> files = Files.walk(top)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Returns the last lines of both logs, oldest first. */
  String logTail(int lines) {
    return Stream.of(systemLog(), output())
        .map(log -> tail(log, lines))
        .filter(text -> !text.isBlank())
        .collect(Collectors.joining("\n"));
  }

  private static String tail(Path log, int lines) {
    if (!Files.exists(log)) {
      return "";
    }
    String[] all = readText(log).split("\n", -1);
    return Stream.of(all).skip(Math.max(0, all.length - lines)).collect(Collectors.joining("\n"));
  }

  static void createFolder(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      throw failed("The folder %s can't be created.", folder, e);
    }
  }

  static void writeText(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw failed("The file %s can't be written.", file, e);
    }
  }

  static String readText(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw failed("The file %s can't be read.", file, e);
    }
  }

  static void writeProperties(Path file, Map<String, String> entries) {
    Properties properties = new Properties();
    properties.putAll(entries);
    StringWriter text = new StringWriter();
    try {
      properties.store(text, null);
    } catch (IOException e) {
      throw failed("The file %s can't be written.", file, e);
    }
    writeText(file, text.toString());
  }

  static Map<String, String> readProperties(Path file) {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(file)) {
      properties.load(reader);
    } catch (IOException e) {
      throw failed("The file %s can't be read.", file, e);
    }
    Map<String, String> entries = new TreeMap<>();
    properties.stringPropertyNames().forEach(n -> entries.put(n, properties.getProperty(n)));
    return entries;
  }

  private static ClusterException failed(String format, Path file, IOException cause) {
    return new ClusterException(Reason.IO, format.formatted(file), cause);
  }
}
