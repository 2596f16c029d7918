// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.cluster.LocalNode;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.MailConsistency;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The whole server over mailboxes in a node, of each store. */
@IsoldeTest
class OnNodeTest {
  private static final String PASSWORD = NodeServers.PASSWORD;
  private static final Map<MailConsistency, NodeServers> all = new EnumMap<>(MailConsistency.class);

  private static CqlSession session;

  @BeforeAll
  static void start(LocalNode node, CqlSession ofTest, @TempDir Path folder) throws Exception {
    session = ofTest;
    for (MailConsistency store : MailConsistency.values()) {
      all.put(
          store,
          NodeServers.start(node, store, "mail_on_node", folder, "python", "many", "locked"));
    }
  }

  @AfterAll
  static void stop() {
    all.values().forEach(NodeServers::close);
  }

  @Test
  void whenAUserIsAddedTwiceOrBadlyThenNothingChanges() {
    MailStorage storage = all.get(MailConsistency.TRANSACTIONAL).storage;
    assertThat(storage.users().add("Python@isolde.test", "another one")).isFalse();
    assertThat(storage.parts().logins().isUser("PYTHON")).isTrue();
    assertThat(storage.parts().logins().isUser("nobody")).isFalse();
    for (String address : new String[] {"a b@c", "a", "@c", "ä@c", "a'; DROP@c"}) {
      assertThat(catchThrowable(() -> storage.users().add(address, PASSWORD)))
          .as(address)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @ParameterizedTest
  @EnumSource
  void whenPythonSendsAMessageThenItReadsItByPop3AndByImap(MailConsistency store) throws Exception {
    NodeServers servers = all.get(store);
    Process python =
        new ProcessBuilder(
                "python3",
                "src/test/python/clients.py",
                Integer.toString(servers.first.smtpPort()),
                Integer.toString(servers.second.pop3Port()),
                Integer.toString(servers.second.imapPort()),
                "python@isolde.test",
                PASSWORD)
            .redirectErrorStream(true)
            .start();
    String output;
    try (var in = python.inputReader()) {
      output = String.join("\n", in.lines().toList());
    }
    assertThat(python.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(output).isEqualTo("all clients are content");
  }

  /** Through two servers, but for the store that can't keep them apart. */
  @ParameterizedTest
  @EnumSource
  void whenManyClientsDeliverToOneInboxThenEachMessageIsThereOnceAndTheCountsAreRight(
      MailConsistency store) throws Exception {
    NodeServers servers = all.get(store);
    MailServer other = store == MailConsistency.QUORUM ? servers.first : servers.second;
    int clients = 8;
    int each = 5;
    int count = clients * each;
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      List<Callable<Integer>> tasks =
          IntStream.range(0, clients)
              .<Callable<Integer>>mapToObj(
                  client -> () -> deliver(client % 2 == 0 ? servers.first : other, client, each))
              .toList();
      for (Future<Integer> accepted : threads.invokeAll(tasks, 60, TimeUnit.SECONDS)) {
        assertThat(accepted.get()).isEqualTo(each);
      }
    } finally {
      threads.shutdownNow();
    }
    Set<String> subjects = new TreeSet<>();
    try (RawClient client = new RawClient(servers.first.pop3Port())) {
      client.read();
      client.say("USER many");
      assertThat(client.say("PASS " + PASSWORD)).startsWith("+OK");
      assertThat(client.say("STAT")).startsWith("+OK " + count + " ");
      for (int i = 1; i <= count; i++) {
        client.send("TOP " + i + " 0\r\n");
        String line = client.read();
        while (!line.equals(".")) {
          if (line.startsWith("Subject: ")) {
            subjects.add(line);
          }
          line = client.read();
        }
      }
    }
    assertThat(subjects).hasSize(count);
    List<Row> mailboxes =
        session
            .execute("SELECT next_uid, message_count FROM %s.messages".formatted(servers.keyspace))
            .all();
    assertThat(mailboxes)
        .anySatisfy(
            row -> {
              assertThat(row.getLong("message_count")).isEqualTo(count);
              assertThat(row.getLong("next_uid")).isEqualTo(count + 1L);
            });
  }

  private static int deliver(MailServer server, int client, int messages) throws Exception {
    int accepted = 0;
    for (int i = 0; i < messages; i++) {
      try (RawClient smtp = new RawClient(server.smtpPort())) {
        smtp.readAnswer();
        smtp.say("EHLO client.test");
        smtp.say("MAIL FROM:<sender@elsewhere.test>");
        smtp.say("RCPT TO:<many@isolde.test>");
        smtp.say("DATA");
        smtp.send("Subject: %d-%d\r\n\r\ntext\r\n.\r\n".formatted(client, i));
        accepted += smtp.readAnswer().startsWith("250") ? 1 : 0;
      }
    }
    return accepted;
  }

  @ParameterizedTest
  @EnumSource
  void whenAClientHasTheDropOnOneServerThenItIsLockedOnAnotherOne(MailConsistency store)
      throws Exception {
    NodeServers servers = all.get(store);
    try (RawClient here = new RawClient(servers.first.pop3Port());
        RawClient there = new RawClient(servers.second.pop3Port())) {
      here.read();
      there.read();
      here.say("USER locked");
      assertThat(here.say("PASS " + PASSWORD)).startsWith("+OK");
      there.say("USER locked");
      assertThat(there.say("PASS " + PASSWORD)).startsWith("-ERR [IN-USE]");
      assertThat(here.say("QUIT")).startsWith("+OK");
      assertThat(here.read()).isNull();
      there.say("USER locked");
      assertThat(there.say("PASS " + PASSWORD)).startsWith("+OK");
    }
  }

  @Test
  void whenTheFolderIsReadThenItSaysWhatWasWritten(@TempDir Path path) throws Exception {
    MailFolder folder = new MailFolder(path.resolve("mail"));
    Properties settings = new Properties();
    settings.setProperty(MailFolder.ADDRESS, "127.0.0.1");
    settings.setProperty(MailFolder.SMTP_PORT, "2525");
    settings.setProperty(MailFolder.POP3_PORT, "0");
    settings.setProperty(MailFolder.IMAP_PORT, "0");
    settings.setProperty(MailFolder.DOMAIN, "isolde.test");
    settings.setProperty(MailFolder.KEYSPACE, "mail");
    settings.setProperty(MailFolder.STORE, "quorum");
    settings.setProperty(MailFolder.NODES, "127.0.0.1:9042,127.0.0.2:9043");
    settings.setProperty(MailFolder.PASSWORDS_IN_CLEAR, "true");
    settings.setProperty(MailFolder.WORKERS, "4");
    folder.write(settings);
    MailFolder.Settings read = folder.read();
    assertThat(read.server().smtpPort()).isEqualTo(2525);
    assertThat(read.place().consistency()).isEqualTo(MailConsistency.QUORUM);
    assertThat(read.place().nodes()).hasSize(2);
    assertThat(Files.getPosixFilePermissions(path.resolve("mail/mail.properties"))).hasSize(2);
  }
}
