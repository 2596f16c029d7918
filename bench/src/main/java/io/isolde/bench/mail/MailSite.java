// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import io.isolde.bench.nodes.TemporaryNode;
import io.isolde.cluster.LocalNode;
import io.isolde.cluster.ToolException;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.login.PasswordHash;
import io.isolde.mail.server.MailStorage;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.stream.IntStream;
import org.apache.james.core.Username;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MessageManager;
import org.apache.james.mailbox.exception.MailboxException;

/** Mailboxes of one kind with a mail server before them, and their users, who have inboxes. */
final class MailSite implements AutoCloseable {
  private static final String DOMAIN = "example.com";

  private final MailStorage.Place place;
  private final ServerProcess server;
  private final List<String> users;

  private MailSite(MailStorage.Place place, ServerProcess server, List<String> users) {
    this.place = place;
    this.server = server;
    this.users = users;
  }

  /**
   * Opens one in a keyspace that is there, and waits for the server.
   *
   * @param threads make the inboxes
   */
  static MailSite open(
      TemporaryNode cluster,
      String keyspace,
      MailConsistency consistency,
      int userCount,
      Executor threads) {
    MailStorage.Place place = place(cluster, keyspace, consistency);
    List<String> users =
        IntStream.range(0, userCount).mapToObj(i -> "user%d@%s".formatted(i, DOMAIN)).toList();
    try (MailStorage storage = MailStorage.open(place, DOMAIN, PasswordHash.ITERATIONS)) {
      addUsers(cluster, keyspace, users);
      addInboxes(storage, users, threads);
    }
    return new MailSite(place, ServerProcess.start(keyspace, place, DOMAIN), users);
  }

  private static MailStorage.Place place(
      TemporaryNode cluster, String keyspace, MailConsistency consistency) {
    return new MailStorage.Place(
        cluster.nodes().stream().map(LocalNode::contactPoint).toList(),
        Optional.empty(),
        "",
        keyspace,
        consistency);
  }

  /** Nobody logs in, so all have the same password, which need not be hard to guess. */
  private static void addUsers(TemporaryNode cluster, String keyspace, List<String> users) {
    cluster.awaitSchema();
    PreparedStatement insert =
        cluster
            .session()
            .prepare(
                "INSERT INTO %s.users (address, password_hash) VALUES (?, ?)".formatted(keyspace));
    String hash = PasswordHash.of("nobody logs in", 1);
    users.forEach(user -> cluster.session().execute(insert.bind(user, hash)));
  }

  private static void addInboxes(MailStorage storage, List<String> users, Executor threads) {
    MailboxManager mailboxes = storage.parts().store().mailboxes();
    users.stream()
        .map(user -> CompletableFuture.runAsync(() -> addInbox(mailboxes, user), threads))
        .toList()
        .forEach(CompletableFuture::join);
  }

  private static void addInbox(MailboxManager mailboxes, String user) {
    try {
      MessageManager unused =
          InboxDelivery.inbox(mailboxes, mailboxes.createSystemSession(Username.of(user)));
    } catch (MailboxException e) {
      throw new ToolException("%s has no inbox: %s.".formatted(user, e), e);
    }
  }

  /** Addresses of all. */
  List<String> users() {
    return users;
  }

  /** The mail server. */
  ServerProcess server() {
    return server;
  }

  /** Compares the inboxes of all users with what was sent to them, without the mail server. */
  SentMail.Verdict check(SentMail sent, Executor threads) {
    try (MailStorage storage = MailStorage.open(place, DOMAIN, PasswordHash.ITERATIONS)) {
      return new InboxReader(storage.parts().store().mailboxes(), threads).check(users, sent);
    }
  }

  @Override
  public void close() {
    server.close();
  }
}
