// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.cluster.LocalNode;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.connection.MailBounds;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Clients of one server hear of what another one changes. The two share a node and no memory. */
@IsoldeTest
class IdleAcrossServersTest {
  private static final String PASSWORD = "correct horse";
  private static final Duration MAX_WAIT = Duration.ofSeconds(10);

  private final LocalNode node;

  IdleAcrossServersTest(LocalNode node) {
    this.node = node;
  }

  /** A mail server, with a session of its own as another process would have. */
  private record Running(MailStorage storage, MailServer server) implements AutoCloseable {
    @Override
    public void close() {
      server.close();
      storage.close();
    }
  }

  private Running start(MailConsistency consistency) throws IOException {
    String keyspace = "idle_" + consistency.name().toLowerCase(Locale.ROOT);
    MailStorage storage =
        MailStorage.open(
            new MailStorage.Place(
                List.of(node.contactPoint()), Optional.empty(), "", keyspace, consistency),
            "isolde.test",
            NodeServers.CHEAP);
    return new Running(
        storage,
        MailServer.start(
            new MailServerSettings(
                "127.0.0.1",
                0,
                0,
                0,
                "mx.isolde.test",
                true,
                Optional.empty(),
                8,
                MailBounds.standard()),
            storage.parts()));
  }

  private static RawClient selected(MailServer server) throws IOException {
    RawClient client = new RawClient(server.imapPort());
    client.read();
    client.send("l LOGIN alice \"" + PASSWORD + "\"\r\n");
    assertThat(client.readTagged("l")).startsWith("l OK");
    client.send("s SELECT INBOX\r\n");
    assertThat(client.readTagged("s")).startsWith("s OK");
    return client;
  }

  private static void deliver(MailServer server, String subject) throws IOException {
    try (RawClient smtp = new RawClient(server.smtpPort())) {
      smtp.readAnswer();
      smtp.say("EHLO client.test");
      smtp.say("MAIL FROM:<sender@elsewhere.test>");
      smtp.say("RCPT TO:<alice@isolde.test>");
      smtp.say("DATA");
      smtp.send("Subject: " + subject + "\r\n\r\ntext\r\n.\r\n");
      assertThat(smtp.readAnswer()).startsWith("250");
    }
  }

  @ParameterizedTest
  @EnumSource(MailConsistency.class)
  void whenAnotherServerChangesAMailboxThenClientsThatIdleHearOfIt(MailConsistency consistency)
      throws Exception {
    try (Running here = start(consistency);
        Running there = start(consistency)) {
      here.storage().users().add("alice@isolde.test", PASSWORD);
      deliver(here.server(), "before");
      try (RawClient idler = selected(there.server());
          RawClient other = selected(here.server())) {
        idler.send("i IDLE\r\n");
        assertThat(idler.readUntil("+ ")).isNotNull();
        deliver(here.server(), "new");
        assertThat(assertHears(idler, "EXISTS")).isEqualTo("* 2 EXISTS");
        other.send("f STORE 1 +FLAGS (\\Flagged later)\r\n");
        assertThat(other.readTagged("f")).startsWith("f OK");
        assertThat(assertHears(idler, "FETCH")).contains("* 1 FETCH", "\\Flagged", "later");
        other.send("d STORE 1 +FLAGS (\\Deleted)\r\ne EXPUNGE\r\n");
        assertThat(other.readTagged("e")).startsWith("e OK");
        assertThat(assertHears(idler, "EXPUNGE")).isEqualTo("* 1 EXPUNGE");
        idler.send("DONE\r\nn NOOP\r\nf FETCH 1 (BODY.PEEK[HEADER.FIELDS (SUBJECT)])\r\n");
        assertThat(idler.readTagged("i")).startsWith("i OK");
        assertThat(idler.readTagged("n")).startsWith("n OK");
        assertThat(idler.readUntil("Subject")).isEqualTo("Subject: new");
        assertThat(idler.readTagged("f")).startsWith("f OK");
      }
    }
  }

  private static String assertHears(RawClient client, String what) throws IOException {
    long start = System.nanoTime();
    String line = client.readUntil(what);
    assertThat(line).as(what).isNotNull();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(MAX_WAIT);
    return line;
  }
}
