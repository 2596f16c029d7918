// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import com.datastax.oss.driver.api.core.cql.ColumnDefinition;
import com.datastax.oss.driver.api.core.cql.Row;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code isolde oracle …}: one method per command, each a statement of CQL. */
@Command(
    name = "oracle",
    description = "Show and change the group of nodes that decides which transactions commit.")
final class OracleCommand {
  private static final String ADDRESS = "The node's address, as the cluster knows it.";

  /** A hand-over that takes longer has failed: the node gives up earlier. */
  private static final Duration HAND_OVER_TIMEOUT = Duration.ofSeconds(15);

  private static final Pattern IS_ADDRESS = Pattern.compile("[0-9A-Za-z.:%_-]+");

  @Spec private CommandSpec spec;

  @Command(description = "Make a node a member.")
  void add(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "ADDRESS", description = ADDRESS) String address) {
    alter(home, access, "ADD", address);
    say("%s is a member of the oracle.".formatted(address));
  }

  @Command(description = "Let a node be a member no longer, also one that is gone.")
  void remove(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "ADDRESS", description = ADDRESS) String address) {
    alter(home, access, "REMOVE", address);
    say("%s is no member of the oracle any more.".formatted(address));
  }

  @Command(description = "Hand the lead to a member.")
  void leader(
      @Mixin Home home,
      @Mixin NodeAccess access,
      @Parameters(paramLabel = "ADDRESS", description = ADDRESS) String address) {
    alter(home, access, "LEADER", address, HAND_OVER_TIMEOUT);
    say("%s leads the oracle.".formatted(address));
  }

  @Command(description = "Show the oracle as a node sees it.")
  void status(@Mixin Home home, @Mixin NodeAccess access) {
    try (CqlConnection connection = access.open(home)) {
      connection.execute("SELECT * FROM isolde.oracle").forEach(this::show);
      List<Row> sessions = connection.execute("SELECT * FROM isolde.oracle_sessions");
      say("sessions              %d".formatted(sessions.size()));
      sessions.forEach(session -> say("  " + session.getFormattedContents()));
    }
  }

  private void show(Row row) {
    for (ColumnDefinition column : row.getColumnDefinitions()) {
      if (!row.isNull(column.getName())) {
        say("%-21s %s".formatted(column.getName().asInternal(), row.getObject(column.getName())));
      }
    }
  }

  private void alter(Home home, NodeAccess access, String how, String address) {
    alter(home, access, how, address, CqlConnection.REQUEST_TIMEOUT);
  }

  private void alter(Home home, NodeAccess access, String how, String address, Duration timeout) {
    if (!IS_ADDRESS.matcher(address).matches()) {
      throw new ParameterException(
          spec.commandLine(), "\"%s\" is not an address.".formatted(address));
    }
    try (CqlConnection connection = access.open(home)) {
      connection.execute("ALTER ORACLE %s '%s'".formatted(how, address), timeout);
    }
  }

  private void say(String sentence) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(sentence);
    out.flush();
  }
}
