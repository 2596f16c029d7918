// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.cql.Row;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde snapshot …}: readable snapshots; one method per command. */
@Command(name = "snapshot", description = "List, create and drop readable snapshots.")
final class SnapshotCommand {
  private static final Pattern NAME = Pattern.compile("[a-zA-Z]\\w{0,47}");
  private static final Pattern TABLE = Pattern.compile("[\\w\".]+");
  private static final Pattern DURATION = Pattern.compile("\\d+(d|h|m|s|ms)");
  private static final long KIB = 1024;

  @Spec private CommandSpec spec;

  @Command(description = "Show the snapshots of the cluster: age, size, state on each node.")
  void list(@Mixin Home home, @Mixin NodeAccess access) {
    try (CqlConnection connection = access.open(home)) {
      List<Row> snapshots = connection.execute("SELECT * FROM isolde.snapshots");
      if (snapshots.isEmpty()) {
        say("There are no snapshots.");
      }
      snapshots.stream()
          .sorted(Comparator.comparing(row -> row.getString("name")))
          .forEach(this::show);
    }
  }

  private void show(Row row) {
    say("%s  %s".formatted(row.getString("name"), row.getString("state")));
    long micros = row.getLong("timestamp");
    if (micros > 0) {
      say("  as of     %s (%d)".formatted(Instant.ofEpochMilli(micros / 1000), micros));
    }
    say("  age       %s".formatted(age(row.getLong("age_seconds"))));
    Instant expires = row.getInstant("expires");
    say("  expires   %s".formatted(expires == null ? "never" : expires));
    Map<String, String> cuts = new TreeMap<>(row.getMap("cuts", String.class, String.class));
    cuts.forEach((table, cut) -> say("  table     %s (%s)".formatted(table, cut)));
    say(
        "  on disk   %s of its own, %s shared, in %d SSTables"
            .formatted(
                size(row.getLong("own_bytes")),
                size(row.getLong("shared_bytes")),
                row.getLong("sstables")));
    Map<String, String> nodes = new TreeMap<>(row.getMap("replicas", String.class, String.class));
    nodes.forEach((node, state) -> say("  node      %s %s".formatted(node, state)));
  }

  static String age(long seconds) {
    Duration age = Duration.ofSeconds(seconds);
    return age.toDays() > 0
        ? "%d d %d h".formatted(age.toDays(), age.toHoursPart())
        : "%d h %d min %d s".formatted(age.toHours(), age.toMinutesPart(), age.toSecondsPart());
  }

  static String size(long bytes) {
    double value = bytes;
    for (String unit : List.of("B", "KiB", "MiB", "GiB")) {
      if (value < KIB) {
        return unit.equals("B")
            ? "%d B".formatted(bytes)
            : String.format(Locale.ROOT, "%.1f %s", value, unit);
      }
      value /= KIB;
    }
    return String.format(Locale.ROOT, "%.1f TiB", value);
  }

  @Command(description = "Take a snapshot of tables, or of a keyspace.")
  void create(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "NAME", description = "The snapshot's name.") String name,
      @Parameters(
              paramLabel = "WHAT",
              arity = "1..*",
              description = "keyspace.table, several of them, or a keyspace alone.")
          List<String> what,
      @Option(
              names = "--ttl",
              paramLabel = "DURATION",
              description = "It goes after that: 7d, 12h.")
          String ttl,
      @Option(
              names = "--gate",
              description = "Let writes wait for the cut: exact without transactions.")
          boolean isGated) {
    require(NAME, name, "the name of a snapshot");
    what.forEach(one -> require(TABLE, one, "a table or a keyspace"));
    String options = isGated ? " AND gate = true" : "";
    if (ttl != null) {
      require(DURATION, ttl, "a duration");
      options += " AND ttl = '" + ttl + "'";
    }
    boolean isKeyspace = what.size() == 1 && !what.get(0).contains(".");
    String cql =
        "CREATE SNAPSHOT %s ON %s%s%s"
            .formatted(
                name,
                isKeyspace ? "KEYSPACE " : "",
                String.join(", ", what),
                options.isEmpty() ? "" : " WITH " + options.substring(" AND ".length()));
    try (CqlConnection connection = access.open(home)) {
      Row made = connection.execute(cql).get(0);
      say(
          "%s is ready on %d nodes, as of %d."
              .formatted(name, made.getInt("nodes"), made.getLong("timestamp")));
    }
  }

  @Command(description = "Drop a snapshot.")
  void drop(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "NAME", description = "The snapshot's name.") String name) {
    require(NAME, name, "the name of a snapshot");
    try (CqlConnection connection = access.open(home)) {
      connection.execute("DROP SNAPSHOT " + name);
      say("%s is gone.".formatted(name));
    }
  }

  private void require(Pattern pattern, String given, String what) {
    if (!pattern.matcher(given).matches()) {
      throw new ParameterException(spec.commandLine(), "\"%s\" is not %s.".formatted(given, what));
    }
  }

  private void say(String sentence) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(sentence);
    out.flush();
  }
}
