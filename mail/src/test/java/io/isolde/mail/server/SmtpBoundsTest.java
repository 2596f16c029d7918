// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.BOB;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a client of SMTP sees that wants too much, too long, or what is not allowed. */
class SmtpBoundsTest {
  private static final int MAX_MESSAGE = 20_000;

  private TestServer server;

  private RawClient connect(MailBounds bounds) throws IOException {
    server = TestServer.start(bounds);
    return greeted();
  }

  private RawClient greeted() throws IOException {
    return greeted("127.0.0.1");
  }

  private RawClient greeted(String address) throws IOException {
    RawClient client = new RawClient(server.server.smtpPort(), address);
    assertThat(client.readAnswer()).startsWith("220 mx.isolde.test");
    assertThat(client.say("EHLO client.test")).startsWith("250 ");
    return client;
  }

  private static MailBounds small() {
    return MailBounds.standard().withMessageBytes(MAX_MESSAGE, 4 * MAX_MESSAGE);
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private static void begin(RawClient client) throws IOException {
    assertThat(client.say("MAIL FROM:<sender@elsewhere.test>")).startsWith("250");
    assertThat(client.say("RCPT TO:<" + ALICE + ">")).startsWith("250");
    assertThat(client.say("DATA")).startsWith("354");
  }

  private static String deliver(RawClient client, String message) throws IOException {
    begin(client);
    client.send(message + "\r\n.\r\n");
    return client.readAnswer();
  }

  @Test
  void whenAClientAsksThenItHearsOfTheExtensions() throws Exception {
    try (RawClient client = connect(small())) {
      client.send("EHLO client.test\r\n");
      StringBuilder all = new StringBuilder();
      String line;
      do {
        line = client.read();
        all.append(line).append('\n');
      } while (line.charAt(3) == '-');
      assertThat(all.toString())
          .contains("PIPELINING", "8BITMIME", "SIZE " + MAX_MESSAGE, "AUTH", "PLAIN", "LOGIN");
    }
  }

  @Test
  void whenCommandsArePipelinedThenEachHasItsAnswer() throws Exception {
    try (RawClient client = connect(small())) {
      client.send(
          "MAIL FROM:<a@b.test>\r\nRCPT TO:<%s>\r\nRCPT TO:<%s>\r\nDATA\r\n".formatted(ALICE, BOB));
      assertThat(client.readAnswer()).startsWith("250");
      assertThat(client.readAnswer()).startsWith("250");
      assertThat(client.readAnswer()).startsWith("250");
      assertThat(client.readAnswer()).startsWith("354");
      client.send("Subject: x\r\n\r\nh\u00e9\r\n.\r\nNOOP\r\nQUIT\r\n");
      assertThat(client.readAnswer()).startsWith("250 2.0.0");
      assertThat(client.readAnswer()).startsWith("250");
      assertThat(client.readAnswer()).startsWith("221");
      assertThat(client.read()).isNull();
    }
    assertThat(server.inbox(ALICE)).hasSize(1);
    assertThat(server.inbox(ALICE).get(0)).endsWith("\r\n\r\nh\u00e9\r\n");
    assertThat(server.inbox(BOB)).hasSize(1);
  }

  @Test
  void whenTheAnnouncedSizeIsTooLargeThenTheMessageIsNotSent() throws Exception {
    try (RawClient client = connect(small())) {
      assertThat(client.say("MAIL FROM:<a@b.test> SIZE=" + (MAX_MESSAGE + 1))).startsWith("552");
      assertThat(client.say("MAIL FROM:<a@b.test> SIZE=" + MAX_MESSAGE)).startsWith("250");
    }
  }

  @Test
  void whenAMessageIsTooLargeThenItIsRefusedAtItsEndAndTheNextIsTaken() throws Exception {
    try (RawClient client = connect(small())) {
      String line = "x".repeat(98) + "\r\n";
      assertThat(deliver(client, line.repeat(MAX_MESSAGE / 100 + 1))).startsWith("552");
      assertThat(deliver(client, "Subject: small\r\n\r\nsmall")).startsWith("250");
    }
    assertThat(server.inbox(ALICE)).hasSize(1);
  }

  @Test
  @Timeout(60)
  void whenTooMuchIsBeingReceivedThenTheSenderIsToTryLaterAndTheRoomComesBack() throws Exception {
    try (RawClient first = connect(small());
        RawClient second = greeted("127.0.0.2");
        RawClient third = greeted("127.0.0.3")) {
      String line = "x".repeat(98) + "\r\n";
      begin(first);
      begin(second);
      first.send(line.repeat(MAX_MESSAGE / 100 - 1));
      second.send(line.repeat(MAX_MESSAGE / 100 - 1));
      while (server.server.receivingBytes() < 4 * (MAX_MESSAGE - 100)) {
        Thread.sleep(1);
      }
      assertThat(deliver(third, line.repeat(10))).startsWith("452");
      first.send(".\r\n");
      assertThat(first.readAnswer()).startsWith("250");
      second.close(); // in the middle of its message
      while (server.server.receivingBytes() > 0) { // until the server has seen that
        Thread.sleep(1);
      }
      assertThat(deliver(third, line.repeat(MAX_MESSAGE / 100 - 1))).startsWith("250");
    }
    assertThat(server.inbox(ALICE)).hasSize(2);
  }

  @Test
  @Timeout(60)
  void whenAnAddressSendsManyMessagesAtOnceThenThereIsRoomForOthers() throws Exception {
    try (RawClient first = connect(small());
        RawClient second = greeted();
        RawClient other = greeted("127.0.0.2")) {
      String line = "x".repeat(98) + "\r\n";
      begin(first);
      first.send(line.repeat(MAX_MESSAGE / 100 - 1));
      while (server.server.receivingBytes() < 2 * (MAX_MESSAGE - 100)) {
        Thread.sleep(1);
      }
      assertThat(deliver(second, line.repeat(10))).startsWith("452");
      assertThat(deliver(other, line.repeat(10))).startsWith("250");
    }
  }

  @Test
  void whenAHeaderIsTooLargeThenTheMessageIsRefusedForGood() throws Exception {
    try (RawClient client = connect(MailBounds.standard())) {
      String field = "X-Long: " + "x".repeat(980) + "\r\n";
      String body = "\r\n" + field.repeat(1_200);
      assertThat(deliver(client, field.repeat(1_000) + body)).startsWith("552");
      assertThat(deliver(client, field.repeat(900) + body)).startsWith("250");
    }
  }

  @Test
  void whenALineIsTooLongThenTheConnectionEnds() throws Exception {
    try (RawClient client = connect(small())) {
      client.trySend("NOOP " + "x".repeat(70_000) + "\r\nNOOP\r\n");
      assertThat(client.readAnswer()).startsWith("500");
      assertThat(client.read()).isNull();
    }
  }

  @Test
  void whenALineOfAMessageIsTooLongThenNothingIsDelivered() throws Exception {
    try (RawClient client = connect(MailBounds.standard().withMessageBytes(1 << 20, 2 << 20))) {
      begin(client);
      client.trySend("Subject: x\r\n\r\n" + "x".repeat(70_000) + "\r\n.\r\n");
      assertThat(client.readAnswer()).startsWith("500");
      assertThat(client.read()).isNull();
    }
    assertThat(server.inbox(ALICE)).isEmpty();
  }

  @Test
  void whenALineEndStandsAloneThenNoSecondMessageIsSmuggledIn() throws Exception {
    String second =
        "MAIL FROM:<admin@isolde.test>\r\nRCPT TO:<%s>\r\nDATA\r\nSubject: forged\r\n\r\nx"
            .formatted(BOB);
    for (String end : new String[] {"\n.\n", "\n.\r\n", "\r.\r", "\r.\r\n", "\r\n.\n", "\r\n.\r"}) {
      if (server != null) {
        server.close();
      }
      try (RawClient client = connect(small())) {
        String answer = deliver(client, "Subject: real\r\n\r\ntext" + end + second);
        assertThat(answer)
            .as("%s", (Object) end.getBytes(StandardCharsets.US_ASCII))
            .startsWith("554");
        assertThat(client.say("NOOP")).startsWith("250");
      }
      assertThat(server.inbox(ALICE)).isEmpty();
      assertThat(server.inbox(BOB)).isEmpty();
    }
  }

  @Test
  void whenALineHasAPointThenItStaysInTheMessage() throws Exception {
    try (RawClient client = connect(small())) {
      assertThat(deliver(client, "Subject: x\r\n\r\n..\r\n..a\r\n.b")).startsWith("250");
    }
    assertThat(server.inbox(ALICE).get(0)).endsWith("\r\n\r\n.\r\n.a\r\n.b\r\n");
  }

  @Test
  void whenTheRecipientIsNoUserThenNothingIsRelayed() throws Exception {
    try (RawClient client = connect(small())) {
      client.say("MAIL FROM:<a@b.test>");
      assertThat(client.say("RCPT TO:<carol@isolde.test>")).startsWith("550 5.1.1");
      assertThat(client.say("RCPT TO:<carol@elsewhere.test>")).startsWith("550 5.7.1");
      assertThat(client.say("RCPT TO:<alice%isolde.test@elsewhere.test>")).startsWith("550");
      assertThat(client.say("RCPT TO:<@isolde.test:carol@elsewhere.test>")).startsWith("5");
      assertThat(client.say("DATA")).startsWith("503");
    }
  }

  @Test
  void whenAUserIsLoggedInThenNothingIsRelayedEitherAndTheSenderIsTheUser() throws Exception {
    try (RawClient client = connect(small())) {
      assertThat(client.say("AUTH PLAIN " + plain(BOB, TestServer.PASSWORD))).startsWith("235");
      assertThat(client.say("MAIL FROM:<" + ALICE + ">")).startsWith("553 5.7.1");
      assertThat(client.say("MAIL FROM:<" + BOB + ">")).startsWith("250");
      assertThat(client.say("RCPT TO:<carol@elsewhere.test>")).startsWith("550 5.7.1");
      assertThat(client.say("RCPT TO:<" + ALICE + ">")).startsWith("250");
    }
  }

  @Test
  void whenAMessageHasTooManyRecipientsThenTheRestIsRefused() throws Exception {
    try (RawClient client = connect(small())) {
      client.say("MAIL FROM:<a@b.test>");
      for (int i = 0; i < MailBounds.standard().maxRecipients(); i++) {
        assertThat(client.say("RCPT TO:<" + ALICE + ">")).startsWith("250");
      }
      assertThat(client.say("RCPT TO:<" + ALICE + ">")).startsWith("452");
      assertThat(client.say("DATA")).startsWith("354");
      client.send("Subject: x\r\n\r\nx\r\n.\r\n");
      assertThat(client.readAnswer()).startsWith("250");
    }
    assertThat(server.inbox(ALICE)).as("each recipient once").hasSize(1);
  }

  @Test
  void whenThereAreTooManyConnectionsThenOneMoreHearsWhyAndOthersGoOn() throws Exception {
    try (RawClient first = connect(small().withConnections(2, 2));
        RawClient second = greeted()) {
      try (RawClient third = new RawClient(server.server.smtpPort())) {
        assertThat(third.readAnswer()).startsWith("421");
        assertThat(third.read()).isNull();
      }
      assertThat(first.say("NOOP")).startsWith("250");
      assertThat(second.say("NOOP")).startsWith("250");
    }
  }

  @Test
  void whenAClientIsSilentThenItIsAskedToLeave() throws Exception {
    try (RawClient client =
        connect(small().withTimes(Duration.ofMillis(500), Duration.ofMinutes(1)))) {
      assertThat(client.readAnswer()).startsWith("421");
      assertThat(client.read()).isNull();
    }
  }

  @Test
  void whenAClientSendsAByteNowAndThenThenItIsSilentAllTheSame() throws Exception {
    try (RawClient client =
        connect(small().withTimes(Duration.ofMillis(600), Duration.ofMinutes(1)))) {
      int sent = 0;
      while (sent < 1_000 && client.trySend("x")) {
        sent++;
        Thread.sleep(50);
      }
      assertThat(sent).isLessThan(1_000);
    }
  }

  @Test
  void whenAClientSaysManyThingsThatNobodyKnowsThenItIsAskedToLeave() throws Exception {
    try (RawClient client = connect(small())) {
      String answer = client.say("GET / HTTP/1.1");
      assertThat(answer).startsWith("500");
      for (int i = 0; i < 10 && answer != null; i++) {
        answer = client.say("Host: x");
      }
      assertThat(client.read()).isNull();
    }
  }

  @Test
  void whenAClientSaysNothingButNoopThenItsCommandsAreBounded() throws Exception {
    try (RawClient client = connect(small())) {
      client.trySend("NOOP\r\n".repeat(2_000));
      int answers = 0;
      String answer = client.readAnswer();
      while (answer != null && answer.startsWith("250")) {
        answers++;
        answer = client.readAnswer();
      }
      assertThat(answers).isEqualTo(999);
    }
  }

  private static String plain(String user, String password) {
    return Base64.getEncoder()
        .encodeToString(("\0" + user + "\0" + password).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void whenAuthIsMalformedThenItIsRefused() throws Exception {
    try (RawClient client = connect(small())) {
      assertThat(client.say("AUTH PLAIN not base64!")).startsWith("501");
      assertThat(client.say("AUTH GSSAPI")).startsWith("504");
      assertThat(client.say("AUTH")).startsWith("501");
      String nameOnly = Base64.getEncoder().encodeToString(ALICE.getBytes(StandardCharsets.UTF_8));
      assertThat(client.say("AUTH PLAIN " + nameOnly)).startsWith("535");
      assertThat(client.say("AUTH LOGIN")).startsWith("334");
      assertThat(client.say("*")).startsWith("501");
      assertThat(client.say("AUTH PLAIN " + plain(ALICE, TestServer.PASSWORD))).startsWith("235");
    }
  }

  @Test
  void whenSomebodyGuessesPasswordsThenNobodyLooksAtThemAfterAWhile() throws Exception {
    try (RawClient client = connect(small())) {
      int looks = 0;
      for (int i = 0; i < 30; i++) {
        looks += client.say("AUTH PLAIN " + plain(ALICE, "guess" + i)).startsWith("535") ? 1 : 0;
      }
      assertThat(looks).isEqualTo(6);
      assertThat(client.say("AUTH PLAIN " + plain(ALICE, TestServer.PASSWORD))).startsWith("454");
    }
  }
}
