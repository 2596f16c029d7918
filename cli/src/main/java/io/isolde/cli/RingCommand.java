// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.cql.Row;
import java.io.PrintWriter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code isolde ring}: the configuration of a cluster. */
@Command(
    name = "ring",
    description = "Show the nodes, the replica groups and their leaders, as the oracle has them.")
final class RingCommand implements Runnable {
  /** It changes when leaders do, so a few reads find it at rest. */
  private static final int MAX_READS = 20;

  @Spec private CommandSpec spec;
  @Mixin private Home home;
  @Mixin private NodeAccess access;

  @Option(names = "--history", description = "Show the last changes instead, with their versions.")
  private boolean isHistory;

  @Override
  public void run() {
    try (CqlConnection connection = access.open(home)) {
      if (isHistory) {
        connection.execute("SELECT * FROM isolde.configuration_history").stream()
            .sorted(Comparator.comparing((Row row) -> row.getLong("version")))
            .forEach(this::showChange);
      } else {
        show(connection);
      }
    }
  }

  private void show(CqlConnection connection) {
    List<Row> nodes = List.of();
    List<Row> groups = List.of();
    boolean isOneVersion = false;
    for (int read = 0; read < MAX_READS && !isOneVersion; read++) {
      nodes = connection.execute("SELECT * FROM isolde.ring");
      groups = connection.execute("SELECT * FROM isolde.groups");
      isOneVersion = versions(nodes, groups) <= 1;
    }
    if (!isOneVersion) {
      throw new CommandFailedException("The configuration changes all the time. Try again.");
    }
    if (nodes.isEmpty()) {
      say("No node has registered itself yet.");
      return;
    }
    say("version %d".formatted(nodes.get(0).getLong("configuration_version")));
    nodes.stream()
        .sorted(Comparator.comparing((Row row) -> row.getString("address")))
        .forEach(this::showNode);
    groups.stream()
        .sorted(
            Comparator.comparing((Row row) -> row.getString("keyspace_name"))
                .thenComparing(row -> row.getInt("group_number")))
        .forEach(this::showGroup);
  }

  private static long versions(List<Row> nodes, List<Row> groups) {
    return Stream.concat(nodes.stream(), groups.stream())
        .map(row -> row.getLong("configuration_version"))
        .distinct()
        .count();
  }

  private void showNode(Row row) {
    say(
        "node %s: %s, clients at %s, %s/%s, since version %d"
            .formatted(
                row.getString("address"),
                row.getString("state").toLowerCase(Locale.ROOT),
                row.getString("cql_address"),
                row.getString("datacenter"),
                row.getString("rack"),
                row.getLong("version")));
  }

  private void showGroup(Row row) {
    boolean isLed = "LED".equals(row.getString("state"));
    say(
        "%s, group %d: %s %s in term %d, since version %d"
            .formatted(
                row.getString("keyspace_name"),
                row.getInt("group_number"),
                isLed ? "led by" : "was led by",
                row.getString("leader"),
                row.getLong("term"),
                row.getLong("version")));
    say(
        "  members %s, %d ranges"
            .formatted(
                String.join(", ", row.getList("members", String.class)),
                row.getList("ranges", String.class).size()));
  }

  private void showChange(Row row) {
    List<String> parts = new ArrayList<>();
    parts.add(row.getString("change").toLowerCase(Locale.ROOT).replace('_', ' '));
    if (!row.isNull("keyspace_name")) {
      parts.add(
          "%s, group %d".formatted(row.getString("keyspace_name"), row.getInt("group_number")));
    }
    for (String column : List.of("address", "host_id", "group_id", "term")) {
      if (!row.isNull(column)) {
        parts.add("%s %s".formatted(column, row.getObject(column)));
      }
    }
    say(
        "%d  %s  %s"
            .formatted(
                row.getLong("version"),
                row.getInstant("at").truncatedTo(ChronoUnit.MILLIS),
                String.join(", ", parts)));
  }

  private void say(String sentence) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(sentence);
    out.flush();
  }
}
