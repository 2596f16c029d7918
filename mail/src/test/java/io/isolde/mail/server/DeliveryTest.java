// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.cluster.LocalNode;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.connection.MailBounds;
import io.isolde.mail.delivery.InboxDelivery;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What becomes of a message that its sender repeats, since it has not heard an answer. */
@IsoldeTest
class DeliveryTest {
  private static final Map<MailConsistency, NodeServers> servers =
      new EnumMap<>(MailConsistency.class);
  private static final String ALICE = "alice@isolde.test";
  private static final String BOB = "bob@isolde.test";
  private static final AtomicInteger messages = new AtomicInteger();

  private static CqlSession session;

  /** One that no other test sends. */
  private final String message =
      "Message-ID: <%d@client.test>\r\nSubject: once\r\n\r\ntext\r\n"
          .formatted(messages.incrementAndGet());

  @BeforeAll
  static void start(LocalNode node, CqlSession ofTest, @TempDir Path folder) throws Exception {
    session = ofTest;
    for (MailConsistency store : MailConsistency.values()) {
      servers.put(store, NodeServers.start(node, store, "mail_delivery", folder, "alice", "bob"));
    }
  }

  @AfterAll
  static void stop() {
    servers.values().forEach(NodeServers::close);
  }

  @BeforeEach
  void empty() throws Exception {
    for (NodeServers each : servers.values()) {
      for (String user : List.of(ALICE, BOB)) {
        empty(each, user);
      }
    }
  }

  private static String send(MailServer server, String message, String... recipients)
      throws Exception {
    try (RawClient client = new RawClient(server.smtpPort())) {
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

  private static MessageManager inbox(MailboxManager mailboxes, MailboxSession of)
      throws Exception {
    return InboxDelivery.inbox(mailboxes, of);
  }

  private static List<String> inbox(NodeServers of, String user) throws Exception {
    MailboxManager mailboxes = of.storage.parts().store().mailboxes();
    MailboxSession session = mailboxes.createSystemSession(Username.of(user));
    List<String> texts = new ArrayList<>();
    Iterator<MessageResult> found =
        inbox(mailboxes, session).getMessages(MessageRange.all(), FetchGroup.FULL_CONTENT, session);
    while (found.hasNext()) {
      byte[] bytes = found.next().getFullContent().getInputStream().readAllBytes();
      texts.add(new String(bytes, StandardCharsets.ISO_8859_1));
    }
    return texts;
  }

  private static void empty(NodeServers of, String user) throws Exception {
    MailboxManager mailboxes = of.storage.parts().store().mailboxes();
    MailboxSession session = mailboxes.createSystemSession(Username.of(user));
    List<MessageUid> uids = new ArrayList<>();
    inbox(mailboxes, session)
        .getMessages(MessageRange.all(), FetchGroup.MINIMAL, session)
        .forEachRemaining(found -> uids.add(found.getUid()));
    if (!uids.isEmpty()) {
      inbox(mailboxes, session).delete(uids, session);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whenAMessageIsRepeatedThenItIsThereOnceForEachRecipient(MailConsistency store)
      throws Exception {
    NodeServers of = servers.get(store);
    assertThat(send(of.first, message, ALICE)).startsWith("250");
    assertThat(send(of.second, message, ALICE, BOB)).startsWith("250");
    assertThat(send(of.first, message, ALICE, BOB)).startsWith("250");
    for (String user : List.of(ALICE, BOB)) {
      assertThat(inbox(of, user))
          .singleElement()
          .asString()
          .startsWith("Return-Path: <")
          .endsWith(message);
    }
    assertThat(session.execute("SELECT count(*) FROM %s.headers".formatted(of.keyspace)).one())
        .as("what the repetitions have stored is gone")
        .satisfies(row -> assertThat(row.getLong(0)).isEqualTo(2));
  }

  @ParameterizedTest
  @EnumSource
  void whenTheMessageHasBeenRemovedThenARepetitionDoesNotBringItBack(MailConsistency store)
      throws Exception {
    NodeServers of = servers.get(store);
    assertThat(send(of.first, message, ALICE)).startsWith("250");
    empty(of, ALICE);
    assertThat(send(of.second, message, ALICE)).startsWith("250");
    assertThat(inbox(of, ALICE)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "QUORUM")
  void whenAMessageComesOverManyConnectionsAtTheSameTimeThenItIsThereOnce(MailConsistency store)
      throws Exception {
    NodeServers of = servers.get(store);
    int connections = 8;
    ExecutorService threads = Executors.newFixedThreadPool(connections);
    try {
      List<Callable<String>> jobs =
          IntStream.range(0, connections)
              .<Callable<String>>mapToObj(
                  i -> () -> send(i % 2 == 0 ? of.first : of.second, message, ALICE))
              .toList();
      for (Future<String> answer : threads.invokeAll(jobs, 60, TimeUnit.SECONDS)) {
        assertThat(answer.get()).startsWith("250");
      }
    } finally {
      threads.shutdownNow();
    }
    assertThat(inbox(of, ALICE)).hasSize(1);
  }

  @ParameterizedTest
  @EnumSource
  void whenAnotherMessageHasTheSameTextThenBothAreThere(MailConsistency store) throws Exception {
    NodeServers of = servers.get(store);
    send(of.first, message, ALICE);
    send(of.first, message.replace("@client", "@other"), ALICE);
    assertThat(inbox(of, ALICE)).hasSize(2);
  }

  @ParameterizedTest
  @EnumSource
  void whenAMessageHasNoMessageIdThenEachIsOneOfItsOwn(MailConsistency store) throws Exception {
    NodeServers of = servers.get(store);
    String text = "Subject: alarm\r\n\r\nMessage-ID: <not in the header>\r\n";
    assertThat(send(of.first, text, ALICE)).startsWith("250");
    assertThat(send(of.first, text, ALICE)).startsWith("250");
    assertThat(inbox(of, ALICE)).hasSize(2);
  }

  @Test
  void whenTheStoreFailsThenTheAnswerIsNot250() throws Exception {
    try (TestServer server = TestServer.start(MailBounds.standard())) {
      server.isBroken = true;
      assertThat(send(server.server, message, TestServer.ALICE)).startsWith("451");
      server.isBroken = false;
      assertThat(send(server.server, message, TestServer.ALICE)).startsWith("250");
      assertThat(server.inbox(TestServer.ALICE)).hasSize(1);
    }
  }
}
