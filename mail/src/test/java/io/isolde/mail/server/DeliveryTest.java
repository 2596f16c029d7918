// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.BOB;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What becomes of a message that its sender repeats, since it has not heard an answer. */
class DeliveryTest {
  private static final String MESSAGE =
      "Message-ID: <1@client.test>\r\nSubject: once\r\n\r\ntext\r\n";

  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.start(MailBounds.standard());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private String send(String message, String... recipients) throws Exception {
    try (RawClient client = new RawClient(server.server.smtpPort())) {
      client.readAnswer();
      client.say("EHLO client.test");
      client.say("MAIL FROM:<sender@elsewhere.test>");
      for (String recipient : recipients) {
        assertThat(client.say("RCPT TO:<" + recipient + ">")).startsWith("250");
      }
      client.say("DATA");
      client.send(message + ".\r\n");
      return client.readAnswer();
    }
  }

  @Test
  void whenAMessageIsRepeatedThenItIsThereOnceForEachRecipient() throws Exception {
    assertThat(send(MESSAGE, ALICE)).startsWith("250");
    assertThat(send(MESSAGE, ALICE, BOB)).startsWith("250");
    assertThat(send(MESSAGE, ALICE, BOB)).startsWith("250");
    assertThat(server.inbox(ALICE)).hasSize(1);
    assertThat(server.inbox(BOB)).hasSize(1);
  }

  @Test
  void whenAnotherMessageHasTheSameTextThenBothAreThere() throws Exception {
    send(MESSAGE, ALICE);
    send(MESSAGE.replace("<1@", "<2@"), ALICE);
    assertThat(server.inbox(ALICE)).hasSize(2);
  }

  @Test
  void whenAMessageHasNoMessageIdThenEachIsOneOfItsOwn() throws Exception {
    String message = "Subject: alarm\r\n\r\nMessage-ID: <not in the header>\r\n";
    assertThat(send(message, ALICE)).startsWith("250");
    assertThat(send(message, ALICE)).startsWith("250");
    assertThat(server.inbox(ALICE)).hasSize(2);
  }

  @Test
  void whenSomebodyForgesTheMarkOfAMessageThenThatMessageIsStillDelivered() throws Exception {
    send(MESSAGE, ALICE);
    String mark = server.inbox(ALICE).get(0).split("\r\n", -1)[1];
    assertThat(mark).startsWith("X-Isolde-Delivery: ");
    server.empty(ALICE);
    server.ledger.forgetThatAllAreDone();
    server.ledger.haveAllStartedAt(Instant.now().minusSeconds(3_600));
    send("Return-Path: <>\r\n" + mark + "\r\nMessage-ID: <2@client.test>\r\n\r\nx\r\n", ALICE);
    assertThat(send(MESSAGE, ALICE)).startsWith("250");
    assertThat(server.inbox(ALICE)).hasSize(2);
  }

  @Test
  void whenAMessageHasManyRecipientsThenEachGetsAllOfIt() throws Exception {
    send(MESSAGE, ALICE, BOB);
    assertThat(server.inbox(ALICE).get(0)).startsWith("Return-Path: <").endsWith(MESSAGE);
    assertThat(server.inbox(BOB).get(0)).startsWith("Return-Path: <").endsWith(MESSAGE);
  }

  @Test
  void whenAServerDiesAfterTheMessageIsThereThenARepetitionFindsIt() throws Exception {
    send(MESSAGE, ALICE);
    server.ledger.forgetThatAllAreDone();
    assertThat(send(MESSAGE, ALICE)).startsWith("250");
    assertThat(server.inbox(ALICE)).hasSize(1);
  }

  @Test
  void whenAServerDiesBeforeTheMessageIsThereThenARepetitionBringsItAfterAWhile() throws Exception {
    send(MESSAGE, ALICE);
    server.empty(ALICE);
    server.ledger.forgetThatAllAreDone();
    assertThat(send(MESSAGE, ALICE)).as("it may be under way still").startsWith("451");
    assertThat(server.inbox(ALICE)).isEmpty();
    server.ledger.haveAllStartedAt(Instant.now().minusSeconds(3_600));
    assertThat(send(MESSAGE, ALICE)).startsWith("250");
    assertThat(server.inbox(ALICE)).hasSize(1);
  }

  @Test
  void whenTheStoreFailsThenTheAnswerIsNot250() throws Exception {
    server.ledger.isBroken = true;
    assertThat(send(MESSAGE, ALICE)).startsWith("451");
    server.ledger.isBroken = false;
    assertThat(send(MESSAGE, ALICE)).startsWith("250");
    assertThat(server.inbox(ALICE)).hasSize(1);
  }
}
