// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import io.isolde.cluster.StartLock;
import io.isolde.mail.server.MailFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.Properties;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code isolde mail …}: one method per command. */
@Command(
    name = "mail",
    description = {
      "Run a mail server whose mailboxes are in Cassandra: SMTP, POP3 and IMAP.",
      "It is an example of an application; docs/mail.md has the rest."
    },
    subcommands = MailUserCommand.class)
final class MailCommand {

  @Spec private CommandSpec spec;

  static MailFolder folder(Home home) {
    return new MailFolder(home.folder().toAbsolutePath().resolve("mail"));
  }

  @Command(
      description = {
        "Start the mail server, which stays until `isolde mail stop`.",
        "It keeps mail in the development node, or in the cluster of another one (--at)."
      })
  void start(@Mixin Home home, @Mixin NodeAccess access, @Mixin MailOptions options) {
    MailFolder folder = folder(home);
    MailDaemon daemon = new MailDaemon(folder);
    try (StartLock lock = daemon.lock()) {
      if (daemon.process().isPresent()) {
        throw new CommandFailedException(
            "The mail server is running already. `isolde mail stop` ends it.");
      }
      folder.write(options.toSettings(home, access, folder));
      say("Starting the mail server; the first time it creates tables, which takes a while.");
      show(daemon.start(), folder);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    say("  user     ./isolde mail user add alice");
    say("  stop     ./isolde mail stop");
  }

  private void show(Properties ports, MailFolder folder) {
    say("");
    say("The mail server is running.");
    say("  SMTP     port %s".formatted(ports.getProperty(MailFolder.SMTP_PORT)));
    say("  POP3     port %s".formatted(ports.getProperty(MailFolder.POP3_PORT)));
    say("  IMAP     port %s".formatted(ports.getProperty(MailFolder.IMAP_PORT)));
    say("  log      %s".formatted(folder.path(MailFolder.LOG)));
  }

  @Command(description = "Stop the mail server; mail, users and settings stay.")
  void stop(@Mixin Home home) {
    say(
        new MailDaemon(folder(home)).stop()
            ? "The mail server is stopped."
            : "The mail server is not running.");
  }

  @Command(description = "Show whether the mail server is running, and its ports.")
  void status(@Mixin Home home) {
    MailFolder folder = folder(home);
    MailDaemon daemon = new MailDaemon(folder);
    Optional<ProcessHandle> process = daemon.process();
    if (process.isEmpty()) {
      say("The mail server is not running.");
      return;
    }
    show(daemon.ports(), folder);
    say("  pid      %d".formatted(process.get().pid()));
  }

  @Command(
      description = {
        "See a message go through the mail server, in about a minute.",
        "On a node and with a server of its own, which are gone afterwards."
      })
  int demo(
      @Mixin Home home,
      @Option(
              names = "--text",
              paramLabel = "TEXT",
              defaultValue = "Tristan is on his way.",
              description = "What the message says.")
          String text) {
    return new DemoMail(new DemoScript(out())).run(home, text);
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private void say(String sentence) {
    out().println(sentence);
    out().flush();
  }
}
