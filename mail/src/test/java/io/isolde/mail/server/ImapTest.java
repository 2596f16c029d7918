// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.PASSWORD;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import org.apache.james.mailbox.MailboxManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

/** What a client of IMAP sees. */
class ImapTest {
  private static final int MAX_MESSAGE = 3_000_000;
  private static final int WORKERS = 8;

  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.start(MailBounds.standard().withMessageBytes(MAX_MESSAGE, 2 * MAX_MESSAGE));
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private RawClient connect() throws IOException {
    RawClient client = new RawClient(server.server.imapPort());
    assertThat(client.read()).startsWith("* OK mx.isolde.test");
    return client;
  }

  private static String ask(RawClient client, String tag, String command) throws IOException {
    client.send(tag + " " + command + "\r\n");
    return client.readTagged(tag);
  }

  private RawClient loggedIn() throws IOException {
    RawClient client = connect();
    assertThat(ask(client, "l", "LOGIN alice \"" + PASSWORD + "\"")).startsWith("l OK");
    return client;
  }

  private RawClient selected() throws IOException {
    RawClient client = loggedIn();
    assertThat(ask(client, "s", "SELECT INBOX")).startsWith("s OK");
    return client;
  }

  @Test
  void whenAClientAsksThenItHearsOfTheExtensions() throws Exception {
    try (RawClient client = connect()) {
      client.send("a CAPABILITY\r\n");
      assertThat(client.read().toUpperCase(Locale.ROOT))
          .contains("IMAP4REV1", "IDLE", "UIDPLUS", "CONDSTORE", "MOVE", "AUTH=PLAIN")
          .doesNotContain("COMPRESS");
    }
  }

  @Test
  void whenAMessageComesThenAClientThatIdlesHearsOfItAndCanGoOn() throws Exception {
    try (RawClient client = selected()) {
      client.send("i IDLE\r\n");
      assertThat(client.readUntil("+ ")).isNotNull();
      server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n");
      assertThat(client.readUntil("1 EXISTS")).isNotNull();
      client.send("DONE\r\nn NOOP\r\n"); // the next command without waiting
      assertThat(client.readTagged("i")).startsWith("i OK");
      assertThat(client.readTagged("n")).startsWith("n OK");
    }
  }

  @Test
  void whenFlagsChangeAndMessagesGoThenAClientThatIdlesHearsOfIt() throws Exception {
    server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n");
    try (RawClient client = selected();
        RawClient other = selected()) {
      client.send("i IDLE\r\n");
      assertThat(client.readUntil("+ ")).isNotNull();
      assertThat(ask(other, "f", "STORE 1 +FLAGS (\\Flagged)")).startsWith("f OK");
      assertThat(client.readUntil("FETCH")).startsWith("* 1 FETCH").contains("\\Flagged");
      assertThat(ask(other, "d", "STORE 1 +FLAGS (\\Deleted)")).startsWith("d OK");
      assertThat(client.readUntil("FETCH")).contains("\\Deleted");
      assertThat(ask(other, "e", "EXPUNGE")).startsWith("e OK");
      assertThat(client.readUntil("EXPUNGE")).isEqualTo("* 1 EXPUNGE");
    }
  }

  @Test
  void whenAMessageIsAppendedThenTheClientHearsItsUid() throws Exception {
    try (RawClient client = selected()) {
      client.send("a APPEND INBOX {25}\r\n");
      assertThat(client.readUntil("+")).isNotNull();
      client.send("Subject: x\r\n\r\nlast line\r\n\r\n");
      assertThat(client.readTagged("a")).matches("a OK \\[APPENDUID \\d+ 1] .*");
      assertThat(ask(client, "c", "CREATE Kept")).startsWith("c OK");
      assertThat(ask(client, "u", "UID COPY 1 Kept")).matches("u OK \\[COPYUID \\d+ 1 1] .*");
    }
  }

  @Test
  void whenFlagsChangeThenAClientCanAskForWhatHasChangedSince() throws Exception {
    server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n");
    server.deliver(ALICE, "Subject: two\r\n\r\nsecond\r\n");
    try (RawClient client = selected()) { // from now on the messages are recent no longer
      client.send("s SELECT INBOX (CONDSTORE)\r\n");
      String line = client.readUntil("HIGHESTMODSEQ");
      String modSeq = line.replaceAll(".*HIGHESTMODSEQ (\\d+).*", "$1");
      client.readTagged("s");
      assertThat(ask(client, "t", "STORE 2 +FLAGS (\\Flagged)")).startsWith("t OK");
      client.send("f FETCH 1:* (FLAGS) (CHANGEDSINCE " + modSeq + ")\r\n");
      assertThat(client.read()).startsWith("* 2 FETCH").contains("\\Flagged", "MODSEQ");
      assertThat(client.read()).startsWith("f OK");
      assertThat(ask(client, "u", "STORE 2 (UNCHANGEDSINCE " + modSeq + ") -FLAGS (\\Flagged)"))
          .contains("MODIFIED");
    }
  }

  @Test
  void whenAMailboxIsExaminedThenNothingOfItChanges() throws Exception {
    server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n");
    try (RawClient client = selected()) {
      assertThat(ask(client, "d", "STORE 1 +FLAGS (\\Deleted)")).startsWith("d OK");
      assertThat(ask(client, "e", "EXAMINE INBOX")).startsWith("e OK [READ-ONLY]");
      client.send("f FETCH 1 (BODY[] FLAGS)\r\n");
      assertThat(client.readUntil("first")).isNotNull();
      assertThat(client.readTagged("f")).startsWith("f OK");
      for (String change : List.of("STORE 1 +FLAGS (\\Seen)", "EXPUNGE", "MOVE 1 Other")) {
        assertThat(ask(client, "n", change)).startsWith("n NO [READ-ONLY]");
      }
      assertThat(ask(client, "c", "CLOSE")).startsWith("c OK");
      assertThat(ask(client, "u", "STATUS INBOX (MESSAGES UNSEEN)")).startsWith("u OK");
      client.send("u STATUS INBOX (MESSAGES UNSEEN)\r\n");
      assertThat(client.readUntil("STATUS")).contains("MESSAGES 1", "UNSEEN 1");
      assertThat(client.readTagged("u")).startsWith("u OK");
      assertThat(ask(client, "s", "SELECT INBOX")).startsWith("s OK");
      client.send("f FETCH 1 (BODY[])\r\n");
      assertThat(client.readTagged("f")).startsWith("f OK");
      client.send("u STATUS INBOX (UNSEEN)\r\n");
      assertThat(client.readUntil("STATUS")).contains("UNSEEN 0");
    }
  }

  @Test
  void whenALiteralIsLargeThenItGoesThroughAFileAndIsWhole() throws Exception {
    String body = ("y".repeat(998) + "\r\n").repeat(2_000);
    String message = "Subject: large\r\n\r\n" + body;
    try (RawClient client = selected()) {
      client.send("a APPEND INBOX {" + message.length() + "}\r\n");
      assertThat(client.readUntil("+")).isNotNull();
      client.send(message + "\r\n");
      assertThat(client.readTagged("a")).startsWith("a OK");
    }
    assertThat(server.inbox(ALICE).get(0)).isEqualTo(message);
  }

  @Test
  void whenALiteralIsTooLargeThenItIsRefused() throws Exception {
    try (RawClient client = selected()) {
      client.send("a APPEND INBOX {" + (MAX_MESSAGE + 1) + "}\r\n");
      client.readUntil("+");
      client.send("the first line of it\r\n");
      assertThat(client.readTagged("a")).startsWith("a BAD");
    }
    assertThat(server.inbox(ALICE)).isEmpty();
  }

  @Test
  void whenAClientHasNotLoggedInThenItsBytesAreBounded() throws Exception {
    try (RawClient client = connect()) {
      client.trySend("a LOGIN {60000}\r\n");
      assertThat(client.readUntil("+")).isNotNull();
      client.trySend("x".repeat(200_000));
      String line = client.read();
      assertThat(line == null || line.startsWith("* BYE")).isTrue();
      assertThat(client.read()).isNull();
    }
  }

  @Test
  void whenALineIsTooLongThenTheClientHearsSo() throws Exception {
    try (RawClient client = selected()) {
      client.trySend("a SEARCH SUBJECT \"" + "x".repeat(100_000) + "\"\r\nb NOOP\r\n");
      assertThat(client.read()).startsWith("* BAD");
    }
  }

  @Test
  void whenAClientDoesNotLogInThenItsTimeIsBounded() throws Exception {
    server.close();
    server =
        TestServer.start(
            MailBounds.standard().withTimes(Duration.ofMinutes(1), Duration.ofMillis(500)));
    try (RawClient client = connect();
        RawClient other = loggedIn()) {
      assertThat(client.read()).startsWith("* BYE");
      assertThat(client.read()).isNull();
      assertThat(ask(other, "n", "NOOP")).startsWith("n OK");
    }
  }

  @Test
  void whenAClientIsSilentThenItHearsSoAndHasToGo() throws Exception {
    server.close();
    server =
        TestServer.start(
            MailBounds.standard().withTimes(Duration.ofMillis(500), Duration.ofMinutes(1)));
    try (RawClient client = loggedIn()) {
      assertThat(client.read()).startsWith("* BYE");
      assertThat(client.read()).isNull();
    }
  }

  @RepeatedTest(5)
  void whenAClientSendsManyCommandsAtOnceThenEachHasItsAnswerInOrder() throws Exception {
    try (RawClient client = selected()) {
      StringBuilder commands = new StringBuilder();
      int count = 2_000;
      for (int i = 0; i < count; i++) {
        commands.append('n').append(i).append(" NOOP\r\n");
      }
      client.send(commands.toString());
      for (int i = 0; i < count; i++) {
        assertThat(client.readUntil("OK")).startsWith("n" + i + " OK");
      }
    }
  }

  @Test
  void whenAClientReadsNothingThenOthersAreServedAndItGetsAllWhenItReads() throws Exception {
    String body = ("z".repeat(998) + "\r\n").repeat(1_000);
    for (int i = 0; i < 20; i++) {
      server.deliver(ALICE, "Subject: large " + i + "\r\n\r\n" + body);
    }
    try (RawClient slow = selected();
        RawClient other = selected()) {
      slow.send("f FETCH 1:* (BODY.PEEK[])\r\n");
      Thread.sleep(500);
      assertThat(ask(other, "n", "NOOP")).startsWith("n OK");
      for (int i = 1; i <= 20; i++) {
        assertThat(slow.readUntil("* " + i + " FETCH")).isNotNull();
      }
      assertThat(slow.readTagged("f")).startsWith("f OK");
    }
  }

  @Test
  void whenManyClientsReadNothingThenHalfOfTheWorkersWaitAndTheOtherConnectionsEnd()
      throws Exception {
    String body = ("z".repeat(998) + "\r\n").repeat(2_000);
    for (int i = 0; i < 10; i++) {
      server.deliver(ALICE, "Subject: large " + i + "\r\n\r\n" + body);
    }
    List<RawClient> clients = new ArrayList<>();
    try (RawClient other = selected()) {
      for (int i = 0; i < WORKERS; i++) {
        RawClient slow = selected();
        clients.add(slow);
        slow.send("f FETCH 1:* (BODY.PEEK[])\r\n");
      }
      server.awaitConnections(WORKERS / 2 + 1);
      assertThat(ask(other, "n", "NOOP")).startsWith("n OK");
      assertThat(server.server.connections()).isEqualTo(WORKERS / 2 + 1);
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
    }
  }

  @Test
  void whenABodyCantBeReadToItsEndThenTheConnectionEndsAndNoAnswerIsTakenForTheRest()
      throws Exception {
    readFrom(BrokenBodies::half, "broken\r\n\r\n" + ("z".repeat(98) + "\r\n").repeat(1_000));
    try (RawClient client = selected()) {
      client.send("f FETCH 1 (BODY.PEEK[])\r\nn NOOP\r\n");
      assertThat(client.readUntil("* 1 FETCH")).contains("{");
      String line = client.read();
      while (line != null) {
        assertThat(line).doesNotContain("f OK").doesNotContain("n OK");
        line = client.read();
      }
    }
  }

  private void readFrom(UnaryOperator<MailboxManager> mailboxes, String message) throws Exception {
    server.close();
    server = TestServer.startReading(mailboxes);
    server.deliver(ALICE, "Subject: " + message);
  }

  @Test
  void whenACommandFailsThenTheClientHearsSoAndGoesOn() throws Exception {
    readFrom(BrokenBodies::unread, "lost\r\n\r\ntext\r\n");
    try (RawClient client = selected()) {
      assertThat(ask(client, "f", "FETCH 1 (BODY.PEEK[])")).startsWith("f NO");
      assertThat(ask(client, "n", "NOOP")).startsWith("n OK");
    }
  }

  @Test
  void whenACommandFailsBehindTheSizeOfALiteralThenTheConnectionEnds() throws Exception {
    readFrom(BrokenBodies::unopened, "lost\r\n\r\ntext\r\n");
    try (RawClient client = selected()) {
      assertThat(ask(client, "f", "FETCH 1 (BODY.PEEK[])")).isNull();
    }
  }

  @Test
  void whenALiteralIsAnnouncedWhileAnotherOneIsSentThenItsAnswerComesBehindThat() throws Exception {
    String body = ("z".repeat(998) + "\r\n").repeat(2_000);
    server.deliver(ALICE, "Subject: large\r\n\r\n" + body);
    try (RawClient client = selected()) {
      client.send("f FETCH 1 (BODY.PEEK[TEXT])\r\na APPEND INBOX {25}\r\n");
      assertThat(client.readUntil("* 1 FETCH")).contains("{" + body.length() + "}");
      for (int i = 0; i < 2_000; i++) {
        assertThat(client.read()).hasSize(998).startsWith("zz");
      }
      assertThat(client.readUntil("OK")).startsWith("f OK");
      assertThat(client.read()).startsWith("+");
      client.send("Subject: x\r\n\r\nlast line\r\n\r\n");
      assertThat(client.readTagged("a")).startsWith("a OK");
    }
  }

  @Test
  void whenSomebodyGuessesElsewhereThenOnlyThatAddressHasToWait() throws Exception {
    for (int i = 0; i < 25; i++) {
      try (RawClient client = new RawClient(server.server.imapPort(), "127.0.0.2")) {
        client.read();
        String guess =
            Base64.getEncoder().encodeToString(("\0user" + i + "\0no").getBytes(US_ASCII));
        String command = i % 2 == 0 ? "LOGIN user" + i + " no" : "AUTHENTICATE PLAIN " + guess;
        assertThat(ask(client, "a", command)).startsWith("a NO");
      }
    }
    loggedIn().close();
  }

  @Test
  void whenSomebodyGuessesPasswordsThenTheConnectionEndsAndLaterGuessesAreNotLookedAt()
      throws Exception {
    int no = 0;
    for (int i = 0; i < 20; i++) {
      try (RawClient client = connect()) {
        String answer = ask(client, "a", "LOGIN alice guess" + i);
        no += answer != null && answer.startsWith("a NO") ? 1 : 0;
      }
    }
    assertThat(no).isEqualTo(20);
    try (RawClient client = connect()) {
      assertThat(ask(client, "a", "LOGIN alice \"" + PASSWORD + "\"")).startsWith("a NO");
    }
  }

  @Test
  void whenALineIsNoImapThenTheServerGoesOnWithOthers() throws Exception {
    try (RawClient client = connect();
        RawClient other = loggedIn()) {
      client.trySend("GET / HTTP/1.1\r\n\u0000\u00ff\r\n");
      assertThat(client.readUntil("BYE")).startsWith("* BYE");
      assertThat(client.read()).isNull();
      assertThat(ask(other, "n", "NOOP")).startsWith("n OK");
    }
  }
}
