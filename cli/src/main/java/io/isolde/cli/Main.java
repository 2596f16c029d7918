// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.ClusterException;
import io.isolde.cluster.ToolException;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.UnmatchedArgumentException;

/** The command {@code isolde}. A new command is one more class in the list of subcommands. */
@Command(
    name = "isolde",
    description = "Transactions for stock Apache Cassandra: nodes and clusters on this machine.",
    subcommands = {
      StartCommand.class,
      StopCommand.class,
      StatusCommand.class,
      ClusterCommand.class,
      OracleCommand.class,
      GroupsCommand.class,
      RingCommand.class,
      SnapshotCommand.class,
      DemoCommand.class,
      MailCommand.class,
      BenchCommand.class,
      StalenessCommand.class,
      StudyCommand.class,
      TortureCommand.class,
      VersionCommand.class,
    },
    scope = ScopeType.INHERIT,
    showDefaultValues = true,
    usageHelpAutoWidth = true,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:it could not be done; the message says why",
      "2:the command line is not understood"
    })
public final class Main {

  @SuppressWarnings("unused") // picocli acts on it
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "Show this help.")
  private boolean isHelpRequested;

  private Main() {}

  /** Runs the command line and exits with its code. */
  public static void main(String[] arguments) {
    System.exit(commandLine().execute(arguments));
  }

  static CommandLine commandLine() {
    CommandLine commandLine = new CommandLine(new Main());
    // These two are done by the script, before any Java of this project exists.
    commandLine
        .getCommandSpec()
        .usageMessage()
        .footer(
            "",
            "The script adds:",
            "  build  Build everything; further arguments are for Maven.",
            "  test   Build everything and run all tests; further arguments are for Maven.");
    return commandLine
        .setExecutionExceptionHandler(Main::report)
        .setParameterExceptionHandler(Main::reportMisuse);
  }

  /** One sentence is enough for a typo; who named no command at all sees them all. */
  private static int reportMisuse(ParameterException exception, String[] arguments) {
    CommandLine command = exception.getCommandLine();
    PrintWriter err = command.getErr();
    err.println(command.getColorScheme().errorText(exception.getMessage()));
    if (!UnmatchedArgumentException.printSuggestions(exception, err)
        && !command.getSubcommands().isEmpty()) {
      command.usage(err);
    }
    err.printf("%nTry %s --help%n", command.getCommandSpec().qualifiedName());
    err.flush();
    return CommandLine.ExitCode.USAGE;
  }

  private static int report(
      Exception exception, CommandLine commandLine, CommandLine.ParseResult parsed)
      throws Exception {
    if (!(exception instanceof ClusterException
        || exception instanceof CommandFailedException
        || exception instanceof ToolException)) {
      throw exception;
    }
    PrintWriter err = commandLine.getErr();
    err.println(commandLine.getColorScheme().errorText(exception.getMessage()));
    err.flush();
    return CommandLine.ExitCode.SOFTWARE;
  }
}
