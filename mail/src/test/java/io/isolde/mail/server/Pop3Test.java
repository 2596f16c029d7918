// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static io.isolde.mail.server.TestServer.ALICE;
import static io.isolde.mail.server.TestServer.BOB;
import static io.isolde.mail.server.TestServer.PASSWORD;
import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.connection.MailBounds;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a client of POP3 sees. */
class Pop3Test {
  private TestServer server;

  @BeforeEach
  void start() throws Exception {
    server = TestServer.start(MailBounds.standard());
  }

  @AfterEach
  void stop() {
    server.close();
  }

  private RawClient connect() throws IOException {
    RawClient client = new RawClient(server.server.pop3Port());
    assertThat(client.read()).startsWith("+OK");
    return client;
  }

  private RawClient loggedIn(String user) throws IOException {
    RawClient client = connect();
    assertThat(client.say("USER " + user)).startsWith("+OK");
    assertThat(client.say("PASS " + PASSWORD)).startsWith("+OK");
    return client;
  }

  private static List<String> list(RawClient client, String command) throws IOException {
    List<String> lines = new ArrayList<>();
    assertThat(client.say(command)).as(command).startsWith("+OK");
    for (String line = client.read(); !line.equals("."); line = client.read()) {
      lines.add(line);
    }
    return lines;
  }

  @Test
  void whenAClientAsksThenItHearsWhatThereIs() throws Exception {
    try (RawClient client = connect()) {
      assertThat(list(client, "CAPA")).contains("USER", "UIDL", "TOP", "RESP-CODES");
    }
  }

  @Test
  void whenAClientReadsNothingThenItsTimeEndsAllTheSame() throws Exception {
    server.close();
    server =
        TestServer.start(
            MailBounds.standard().withTimes(Duration.ofSeconds(2), Duration.ofMinutes(1)));
    server.deliver(ALICE, "Subject: large\r\n\r\n" + ("z".repeat(998) + "\r\n").repeat(15_000));
    try (RawClient client = loggedIn(ALICE)) {
      client.send("RETR 1\r\n".repeat(4));
      long start = System.nanoTime();
      server.awaitConnections(0);
      assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
    }
    try (RawClient client = loggedIn(ALICE)) { // the drop is free again
      assertThat(client.say("STAT")).startsWith("+OK 1 ");
    }
  }

  @Test
  void whenThereAreMessagesThenTheyAreListedReadAndDeleted() throws Exception {
    server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n.point\r\nthird\r\n");
    server.deliver(ALICE, "Subject: two\r\n\r\nx\r\n");
    List<String> uids;
    try (RawClient client = loggedIn(ALICE)) {
      assertThat(client.say("STAT")).startsWith("+OK 2 ");
      assertThat(list(client, "LIST")).hasSize(2);
      uids = list(client, "UIDL");
      assertThat(uids).hasSize(2).doesNotHaveDuplicates();
      assertThat(client.say("UIDL 2")).isEqualTo("+OK " + uids.get(1));
      assertThat(list(client, "RETR 1")).endsWith("first", "..point", "third");
      assertThat(list(client, "TOP 1 2")).contains("Subject: one").endsWith("first", "..point");
      assertThat(list(client, "TOP 1 0")).contains("Subject: one").doesNotContain("first");
      assertThat(client.say("DELE 1")).startsWith("+OK");
      assertThat(client.say("RETR 1")).startsWith("-ERR");
      assertThat(client.say("RETR 3")).startsWith("-ERR");
      assertThat(client.say("RETR x")).startsWith("-ERR");
      assertThat(client.say("QUIT")).startsWith("+OK");
      assertThat(client.read()).isNull();
    }
    try (RawClient client = loggedIn(ALICE)) {
      assertThat(client.say("STAT")).startsWith("+OK 1 ");
      assertThat(client.say("UIDL 1")).endsWith(uids.get(1).substring(2));
    }
  }

  @Test
  void whenAConnectionEndsWithoutQuitThenNothingIsDeletedAndTheDropIsFree() throws Exception {
    server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n");
    try (RawClient client = loggedIn(ALICE)) {
      assertThat(client.say("DELE 1")).startsWith("+OK");
    }
    try (RawClient client = connect()) {
      String answer;
      do { // until the server has seen that the client is gone
        client.say("USER alice");
        answer = client.say("PASS " + PASSWORD);
      } while (answer.startsWith("-ERR [IN-USE]"));
      assertThat(client.say("STAT")).startsWith("+OK 1 ");
    }
  }

  @Test
  void whenAClientHasTheDropThenAnotherOneHearsSo() throws Exception {
    try (RawClient first = loggedIn(ALICE);
        RawClient second = connect();
        RawClient other = loggedIn(BOB)) {
      second.say("USER Alice");
      assertThat(second.say("PASS " + PASSWORD)).startsWith("-ERR [IN-USE]");
      assertThat(other.say("STAT")).startsWith("+OK");
      assertThat(first.say("QUIT")).startsWith("+OK");
      assertThat(first.read()).isNull();
      second.say("USER " + ALICE);
      assertThat(second.say("PASS " + PASSWORD)).startsWith("+OK");
    }
  }

  @Test
  void whenTheLockIsLostThenNothingIsDeleted() throws Exception {
    server.deliver(ALICE, "Subject: one\r\n\r\nfirst\r\n");
    try (RawClient client = loggedIn(ALICE)) {
      client.say("DELE 1");
      server.locks.loseAll();
      assertThat(client.say("QUIT")).startsWith("-ERR");
    }
    assertThat(server.inbox(ALICE)).hasSize(1);
  }

  @Test
  void whenAClientHasNotLoggedInThenItGetsNothing() throws Exception {
    try (RawClient client = connect()) {
      for (String command : new String[] {"STAT", "LIST", "RETR 1", "UIDL", "TOP 1 1", "DELE 1"}) {
        assertThat(client.say(command)).as(command).startsWith("-ERR");
      }
      assertThat(client.say("PASS " + PASSWORD)).startsWith("-ERR");
      client.say("USER " + ALICE);
      assertThat(client.say("PASS wrong")).startsWith("-ERR [AUTH]");
      assertThat(client.say("STAT")).startsWith("-ERR");
    }
  }

  @Test
  void whenAClientTriesTooOftenThenItsConnectionEndsAndItsGuessesAreNotLookedAt() throws Exception {
    try (RawClient client = connect()) {
      int looks = 0;
      String answer = "";
      while (answer != null && !answer.contains("closing")) {
        client.trySend("USER " + ALICE + "\r\nPASS guess\r\n");
        answer = client.read();
        if (answer == null || answer.contains("closing")) {
          break;
        }
        answer = client.read();
        looks += answer != null && answer.contains("[AUTH]") ? 1 : 0;
      }
      assertThat(looks).isEqualTo(6);
    }
  }

  @Test
  void whenAClientDoesNotLogInThenItsTimeIsBounded() throws Exception {
    server.close();
    server =
        TestServer.start(
            MailBounds.standard().withTimes(Duration.ofMinutes(1), Duration.ofMillis(500)));
    try (RawClient client = connect();
        RawClient other = loggedIn(ALICE)) {
      assertThat(client.read()).startsWith("-ERR");
      assertThat(client.read()).isNull();
      assertThat(other.say("STAT")).startsWith("+OK");
    }
  }

  @Test
  void whenAClientAsksForMuchAndReadsNothingThenOtherClientsAreServed() throws Exception {
    server.deliver(ALICE, "Subject: large\r\n\r\n" + ("x".repeat(998) + "\r\n").repeat(2_000));
    try (RawClient slow = loggedIn(ALICE)) {
      slow.trySend("RETR 1\r\n".repeat(1_500));
      try (RawClient other = loggedIn(BOB)) {
        assertThat(other.say("STAT")).startsWith("+OK");
      }
      // What it asked for comes when it reads at last.
      for (int i = 0; i < 3; i++) {
        assertThat(slow.readUntil("Message follows")).isNotNull();
      }
    }
  }
}
