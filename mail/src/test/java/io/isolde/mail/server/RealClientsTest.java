// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.BOB;
import static io.isolde.mail.server.TestServer.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageRange;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Programs that people use, as Debian has them. All of them encrypt. A test is left out only if its
 * program is not installed.
 */
class RealClientsTest {
  private static final String STORE_PASSWORD = "secret";
  private static final int MAX_SECONDS = 60;
  private static final int OK = 0;

  private TestServer server;

  @TempDir private Path folder;

  @BeforeEach
  void start() throws Exception {
    Path file = folder.resolve("own.p12");
    OwnCertificate.createIfMissing(file, "mx.isolde.test", STORE_PASSWORD);
    server = TestServer.startWithTls(MailFolder.tls(file, STORE_PASSWORD));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  /** How a program has ended, and what it has written. */
  private record Ended(int status, String output) {}

  private Ended run(String... command) throws Exception {
    boolean isInstalled =
        Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
            .anyMatch(path -> Files.isExecutable(Path.of(path, command[0])));
    assumeTrue(isInstalled, command[0] + " is not installed");
    Path output = Files.createTempFile(folder, "output", ".txt");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    builder.environment().put("HOME", folder.toString());
    builder.environment().put("TERM", "xterm");
    builder.environment().put("LINES", "40");
    builder.environment().put("COLUMNS", "120");
    Process process = builder.start();
    try {
      assertThat(process.waitFor(MAX_SECONDS, TimeUnit.SECONDS)).as(command[0]).isTrue();
    } finally {
      process.destroyForcibly();
    }
    return new Ended(process.exitValue(), Files.readString(output));
  }

  private Path message(String subject, String text) throws IOException {
    Path file = folder.resolve("message.eml");
    Files.writeString(
        file,
        "From: %s\r\nTo: %s\r\nMessage-ID: <%s@test>\r\nSubject: %s\r\n\r\n%s\r\n"
            .formatted(ALICE, ALICE, subject, subject, text));
    return file;
  }

  private Ended curl(String protocol, int port, String path, String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("curl", "-sS", "--ssl-reqd", "-k", "--user", ALICE + ":" + PASSWORD));
    command.addAll(List.of(options));
    command.add("%s://127.0.0.1:%d/%s".formatted(protocol, port, path));
    return run(command.toArray(String[]::new));
  }

  private Ended smtp(String recipient, Path message) throws Exception {
    return curl(
        "smtp",
        server.server.smtpPort(),
        "client.test",
        "--mail-from",
        ALICE,
        "--mail-rcpt",
        recipient,
        "--upload-file",
        message.toString());
  }

  private String read(String protocol, int port, String path, String... options) throws Exception {
    Ended ended = curl(protocol, port, path, options);
    assertThat(ended.status()).as(ended.output()).isEqualTo(OK);
    return ended.output();
  }

  @Test
  void curlSendsAndReadsByPop3AndByImap() throws Exception {
    Path message = message("hello", ".a line with a dot");
    Ended sent = smtp(ALICE, message);
    assertThat(sent.status()).as(sent.output()).isEqualTo(OK);
    assertThat(smtp("someone@elsewhere.test", message).output()).contains("550");
    int pop3 = server.server.pop3Port();
    assertThat(read("pop3", pop3, "")).startsWith("1 ");
    assertThat(read("pop3", pop3, "", "-X", "UIDL")).startsWith("1 ");
    assertThat(read("pop3", pop3, "1")).contains("Subject: hello", "\r\n.a line with a dot\r\n");
    int imap = server.server.imapPort();
    assertThat(read("imap", imap, "")).contains("INBOX");
    assertThat(read("imap", imap, "INBOX", "-X", "SEARCH SUBJECT hello")).contains("SEARCH 1");
    assertThat(read("imap", imap, "INBOX;MAILINDEX=1")).contains(".a line with a dot");
    assertThat(read("imap", imap, "INBOX;UID=1;SECTION=HEADER.FIELDS%20(SUBJECT)"))
        .contains("Subject: hello");
    Path appended = message("appended", "x".repeat(70) + "\r\n".repeat(3));
    read("imap", imap, "INBOX", "--upload-file", appended.toString());
    assertThat(read("imap", imap, "INBOX;UID=2")).isEqualTo(Files.readString(appended));
    read("imap", imap, "INBOX", "-X", "STORE 1 +FLAGS (\\Deleted)");
    read("imap", imap, "INBOX", "-X", "EXPUNGE");
    assertThat(read("imap", imap, "INBOX", "-X", "SEARCH ALL")).contains("SEARCH 1\r\n");
    read("pop3", pop3, "1", "--head", "-X", "DELE");
    assertThat(server.inbox(ALICE)).isEmpty();
  }

  private Ended swaks(String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of("swaks", "--server", "127.0.0.1", "--ehlo", "client.test", "--port"));
    command.add(Integer.toString(server.server.smtpPort()));
    command.addAll(List.of(options));
    return run(command.toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"PLAIN", "LOGIN"})
  void swaksSendsByEachMechanism(String mechanism) throws Exception {
    Ended ended =
        swaks(
            "--tls",
            "--auth",
            mechanism,
            "--auth-user",
            ALICE,
            "--auth-password",
            PASSWORD,
            "--from",
            ALICE,
            "--to",
            ALICE + "," + BOB,
            "--pipeline",
            "--header",
            "Subject: swaks by " + mechanism);
    assertThat(ended.status()).as(ended.output()).isEqualTo(OK);
    for (String user : List.of(ALICE, BOB)) {
      assertThat(server.inbox(user))
          .singleElement()
          .asString()
          .contains("Subject: swaks by " + mechanism);
    }
  }

  @Test
  void swaksHearsWhatIsRefused() throws Exception {
    assertThat(swaks("--auth", "--auth-user", ALICE, "--auth-password", PASSWORD, "--to", ALICE))
        .as("a password in clear")
        .matches(ended -> ended.status() == 28);
    assertThat(swaks("--tls", "-a", "-au", ALICE, "-ap", "wrong", "--to", ALICE, "--from", ALICE))
        .matches(ended -> ended.status() == 28);
    Ended relayed = swaks("--to", "someone@elsewhere.test", "--from", "other@elsewhere.test");
    assertThat(relayed.status()).as(relayed.output()).isEqualTo(24);
    assertThat(relayed.output()).contains("550");
    Ended attached = swaks("--to", ALICE, "--from", "other@elsewhere.test", "--attach", "@own.p12");
    assertThat(attached.status()).as(attached.output()).isEqualTo(OK);
    assertThat(server.inbox(ALICE)).hasSize(1);
  }

  /** Both need a terminal to read mail, and get one from script. */
  @ParameterizedTest
  @ValueSource(strings = {"mutt", "neomutt"})
  void muttSendsAndReadsAndMovesMessages(String mutt) throws Exception {
    Path settings = muttSettings();
    Path text = folder.resolve("text");
    Files.writeString(text, "sent by " + mutt + "\n");
    Ended sent =
        run("sh", "-c", mutt + " -F " + settings + " -s hello " + ALICE + " < " + text + " 2>&1");
    assumeTrue(sent.status() != 127, mutt + " is not installed");
    assertThat(sent.status()).as(sent.output()).isEqualTo(OK);
    assertThat(server.inbox(ALICE)).singleElement().asString().contains("sent by " + mutt);
    Path kept = folder.resolve("kept");
    String keys =
        "<copy-message>"
            + kept
            + "<enter><flag-message><save-message>=Kept<enter>"
            + "<sync-mailbox><quit>";
    String read = mutt + " -F " + settings + " -e 'push " + keys + "'";
    Ended ended = run("script", "-qec", read, folder.resolve("screen").toString());
    assertThat(kept).as(ended.output()).exists();
    assertThat(Files.readString(kept)).contains("Subject: hello", "sent by " + mutt);
    assertThat(server.inbox(ALICE)).isEmpty();
    assertThat(messages("Kept")).hasSize(1);
  }

  private Path muttSettings() throws Exception {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (var in = Files.newInputStream(folder.resolve("own.p12"))) {
      store.load(in, STORE_PASSWORD.toCharArray());
    }
    byte[] certificate = store.getCertificate(store.aliases().nextElement()).getEncoded();
    Path trusted = folder.resolve("trusted.pem");
    Files.writeString(
        trusted,
        "-----BEGIN CERTIFICATE-----\n"
            + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate)
            + "\n-----END CERTIFICATE-----\n");
    String imap = "imap://%s@127.0.0.1:%d/".formatted("alice", server.server.imapPort());
    Path settings = folder.resolve("muttrc");
    Files.writeString(
        settings,
        """
        set certificate_file=%s
        set ssl_verify_host=no ssl_starttls=yes ssl_force_tls=yes
        set imap_user=alice imap_pass="%s" smtp_pass="%s"
        set smtp_url=smtp://alice@127.0.0.1:%d/
        set folder=%s spoolfile=%sINBOX
        set from=%s realname=Alice hostname=client.test
        set record="" copy=no confirmappend=no confirmcreate=no delete=yes move=no
        set wait_key=no quit=yes header_cache=""
        """
            .formatted(trusted, PASSWORD, PASSWORD, server.server.smtpPort(), imap, imap, ALICE));
    return settings;
  }

  private List<String> messages(String mailbox) throws Exception {
    MailboxSession session = server.store.mailboxes().createSystemSession(Username.of(ALICE));
    List<String> subjects = new ArrayList<>();
    server
        .store
        .mailboxes()
        .getMailbox(MailboxPath.forUser(Username.of(ALICE), mailbox), session)
        .getMessages(MessageRange.all(), FetchGroup.MINIMAL, session)
        .forEachRemaining(message -> subjects.add(message.getUid().toString()));
    return subjects;
  }
}
