// SPDX-License-Identifier: Apache-2.0
package io.isolde.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.cluster.StartLock;
import io.isolde.mail.server.MailFolder;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class MailCommandTest {
  @TempDir private Path home;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private int run(String... arguments) {
    CommandLine command =
        Main.commandLine().setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    return command.execute(arguments);
  }

  private String home() {
    return "--home=" + home;
  }

  @Test
  void whenNoMailServerRunsThenStatusAndStopSaySo() {
    assertThat(run("mail", "status", home())).isZero();
    assertThat(run("mail", "stop", home())).isZero();
    assertThat(out.toString()).containsSubsequence("is not running", "is not running");
  }

  @Test
  void whenThereIsNoMailServerYetThenNobodyCanBeAdded() {
    assertThat(run("mail", "user", "add", "alice", "--password=correct horse", home())).isOne();
    assertThat(err.toString()).contains("isolde mail start");
  }

  @Test
  void whenThereIsNoNodeThenTheMailServerDoesNotStart() {
    assertThat(run("mail", "start", home())).isOne();
    assertThat(err.toString()).contains("There is no development node");
  }

  /** Nothing listens there, so the server gives up; what it was to do is written before. */
  @Test
  void whenAServerIsStartedAgainThenWhatIsNotSaidStaysAsItWas() throws Exception {
    String nowhere = "--at=127.0.0.1:1";
    assertThat(run("mail", "start", nowhere, "--store=strong", "--smtp-port=0", home())).isOne();
    assertThat(run("mail", "start", "--passwords-in-clear", home())).isOne();
    assertThat(run("mail", "start", "--pop3-port=0", home())).isOne();

    Properties settings = new MailFolder(home.resolve("mail")).properties();

    assertThat(settings)
        .containsEntry(MailFolder.NODES, "127.0.0.1:1")
        .containsEntry(MailFolder.STORE, "strong")
        .containsEntry(MailFolder.SMTP_PORT, "0")
        .containsEntry(MailFolder.POP3_PORT, "0")
        .containsEntry(MailFolder.IMAP_PORT, "2143")
        .containsEntry(MailFolder.PASSWORDS_IN_CLEAR, "true");
    assertThat(run("mail", "start", "--no-passwords-in-clear", home())).isOne();
    assertThat(new MailFolder(home.resolve("mail")).properties())
        .containsEntry(MailFolder.PASSWORDS_IN_CLEAR, "false");
  }

  @Test
  void whenAnotherCommandStartsTheServerThenThisOneDoesNot() throws Exception {
    MailFolder folder = new MailFolder(home.resolve("mail"));
    try (StartLock lock = new MailDaemon(folder).lock()) {
      assertThat(run("mail", "start", "--at=127.0.0.1:1", home())).isOne();
      assertThat(err.toString()).contains("Another command has been starting the mail server");
      assertThat(folder.path("mail.pid")).doesNotExist();
    }
  }

  @Test
  void whenTheKindOfStoreIsUnknownThenTheKindsAreNamed() {
    assertThat(run("mail", "start", "--store=best", home())).isEqualTo(2);
    assertThat(err.toString()).contains("transactional, strong, quorum or serial");
  }

  @Test
  void whenANumberOfAProcessIsAnotherOnesByNowThenTheServerIsNotRunning() throws Exception {
    Files.createDirectories(home.resolve("mail"));
    Files.write(
        home.resolve("mail/mail.pid"),
        List.of(Long.toString(ProcessHandle.current().pid()), "2001-01-01T00:00:00Z"));
    assertThat(run("mail", "stop", home())).isZero();
    assertThat(out.toString()).contains("is not running");
  }
}
