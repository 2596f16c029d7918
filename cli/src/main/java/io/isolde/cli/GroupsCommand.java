// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.cql.Row;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde groups …}: the replica groups of strong keyspaces; one method per command. */
@Command(
    name = "groups",
    description =
        "Show the replica groups of strong keyspaces, choose who leads them, and move them.")
final class GroupsCommand {
  private static final Pattern KEYSPACE = Pattern.compile("[a-zA-Z]\\w{0,47}|\"\\w{1,48}\"");
  private static final Pattern ADDRESS = Pattern.compile("[0-9A-Za-z.:%_-]+");

  /** Whole replicas are copied. */
  private static final Duration REBALANCING = Duration.ofDays(1);

  @Spec private CommandSpec spec;

  @Command(
      description =
          "Show the groups as a node sees them, and all their replicas, which that node asks.")
  void status(@Mixin Home home, @Mixin NodeAccess access) {
    try (CqlConnection connection = access.open(home)) {
      List<Row> groups = connection.execute("SELECT * FROM isolde.replica_groups");
      if (groups.isEmpty()) {
        say("There are no strong keyspaces.");
      }
      List<Row> replicas = connection.execute("SELECT * FROM isolde.group_replicas");
      groups.stream()
          .sorted(
              Comparator.comparing((Row row) -> row.getString("keyspace_name"))
                  .thenComparing(row -> row.getInt("group_number")))
          .forEach(
              group -> {
                show(group);
                replicas.stream()
                    .filter(replica -> isOf(replica, group))
                    .forEach(this::showReplica);
              });
    }
  }

  private static boolean isOf(Row replica, Row group) {
    return replica.getString("keyspace_name").equals(group.getString("keyspace_name"))
        && replica.getInt("group_number") == group.getInt("group_number");
  }

  private void showReplica(Row row) {
    String state = row.getString("state").toLowerCase(Locale.ROOT).replace('_', ' ');
    String details =
        row.isNull("applied_index")
            ? ""
            : ", %d entries behind, %d compactions to do, compacts: %s"
                .formatted(
                    row.getLong("lag_entries"),
                    row.getInt("compactions_pending"),
                    row.getString("compaction_permit").toLowerCase(Locale.ROOT));
    say("  replica   %s: %s%s".formatted(row.getString("member"), state, details));
  }

  private void show(Row row) {
    say("%s, group %d".formatted(row.getString("keyspace_name"), row.getInt("group_number")));
    say("  members   %s".formatted(String.join(", ", row.getList("members", String.class))));
    String leader = row.getString("leader");
    say("  leader    %s".formatted(leader == null ? "unknown to this node" : leader));
    say("  here      %s".formatted(row.getString("state")));
    if (!row.isNull("applied_index")) {
      say(
          "  log       applied up to %d, %d to go, kept from %d, term %d"
              .formatted(
                  row.getLong("applied_index"),
                  row.getLong("lag_entries"),
                  row.getLong("log_from_index"),
                  row.getLong("term")));
    }
    if (!row.isNull("problem")) {
      say("  problem   %s".formatted(row.getString("problem")));
    }
  }

  @Command(description = "Let a node lead all groups of a keyspace of which it is a member.")
  void leader(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "KEYSPACE", description = "The strong keyspace.") String keyspace,
      @Parameters(
              paramLabel = "ADDRESS",
              description = "The node's address, as the cluster knows it.")
          String address) {
    requireMatch(KEYSPACE, keyspace, "the name of a keyspace");
    requireMatch(ADDRESS, address, "an address");
    try (CqlConnection connection = access.open(home)) {
      connection.execute("ALTER KEYSPACE %s LEADER '%s'".formatted(keyspace, address));
    }
    say("%s leads what it has of %s.".formatted(address, keyspace));
  }

  @Command(
      description = {
        "Move replicas of a keyspace so that all nodes have about equally many.",
        "To be done after a node was added, or, --without it, before one is removed."
            + " All others must be up."
      })
  void rebalance(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "KEYSPACE", description = "The strong keyspace.") String keyspace,
      @Option(
              names = "--without",
              paramLabel = "ADDRESS",
              description = "A node that must have none; may be repeated.")
          List<String> without) {
    requireMatch(KEYSPACE, keyspace, "the name of a keyspace");
    List<String> addresses = without == null ? List.of() : without;
    addresses.forEach(address -> requireMatch(ADDRESS, address, "an address"));
    String excluded =
        addresses.isEmpty()
            ? ""
            : addresses.stream().collect(Collectors.joining("', '", " WITHOUT '", "'"));
    try (CqlConnection connection = access.open(home)) {
      Row answer =
          connection
              .execute("ALTER KEYSPACE " + keyspace + " REBALANCE" + excluded, REBALANCING)
              .get(0);
      say(
          "%d replicas of %s have moved, and %d of its groups have another leader."
              .formatted(
                  answer.getInt("moved_replicas"), keyspace, answer.getInt("moved_leaders")));
    }
  }

  private void requireMatch(Pattern pattern, String text, String what) {
    if (!pattern.matcher(text).matches()) {
      throw new ParameterException(spec.commandLine(), "\"%s\" is not %s.".formatted(text, what));
    }
  }

  private void say(String sentence) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(sentence);
    out.flush();
  }
}
