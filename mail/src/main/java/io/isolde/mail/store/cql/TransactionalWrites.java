// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxView;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** Each change is a transaction of Isolde, also one of two mailboxes. */
final class TransactionalWrites extends CqlWrites {

  /** Conflicts are those over one busy mailbox; the limit of time stays as it is. */
  private static final TransactionOptions OPTIONS =
      TransactionOptions.builder().maxAttempts(200).build();

  /** A delivery as one request: the node runs it again after a conflict. */
  private static final String DELIVERY =
      """
      BEGIN TRANSACTION
        LET m = (SELECT next_uid, highest_modseq, message_count, unseen_count FROM $messages
            WHERE mailbox_id = :mailbox LIMIT 1);
        SELECT m.next_uid, m.highest_modseq;
        IF m.next_uid IS NOT NULL THEN
          UPDATE $messages SET next_uid = m.next_uid + 1, highest_modseq = m.highest_modseq + 1,
              message_count = m.message_count + 1, unseen_count = m.unseen_count + :unseen
              WHERE mailbox_id = :mailbox;
          INSERT INTO $messages (mailbox_id, uid, modseq, message_id, thread_id, system_flags,
              user_flags, received, saved, size_bytes, body_start)
              VALUES (:mailbox, m.next_uid, m.highest_modseq + 1, :message, :thread, :flags,
              :keywords, :received, :saved, :size, :start);
          INSERT INTO $places (message_id, mailbox_id, uid)
              VALUES (:message, :mailbox, m.next_uid);
        END IF
      COMMIT TRANSACTION""";

  private final CqlSession session;
  private final Isolde isolde;
  private final MailboxReads reads;
  private final MailRequests requests;
  private final PreparedStatement delivery;

  TransactionalWrites(
      CqlSession session,
      String keyspace,
      MailTables tables,
      MailboxReads reads,
      MailRequests requests) {
    super(tables);
    this.session = session;
    this.isolde = Isolde.on(session);
    this.reads = reads;
    this.requests = requests;
    this.delivery = session.prepare(DELIVERY.replace("$", keyspace + "."));
  }

  @Override
  public <T> T change(UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision) {
    return isolde.run(OPTIONS, tx -> change(tx, mailbox, read, decision));
  }

  private <T> T change(
      Transaction tx, UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision) {
    Numbers before =
        MailTables.numbers(tx.execute(tables.numbers(mailbox)).one())
            .orElseThrow(() -> new NoMailboxException(mailbox));
    MailboxChange<T> change =
        decision.apply(new MailboxView(before, reads.select(mailbox, read, tx::execute)));
    if (writes(before, change)) {
      tx.write(tables.setNumbers(mailbox, change.after()));
      rows(mailbox, before, change).forEach(tx::write);
      placed(mailbox, change).forEach(tx::write);
      unplaced(mailbox, change).forEach(tx::write);
    }
    return change.answer();
  }

  /**
   * As one block where the message has no keywords. With keywords the mailbox must be asked whether
   * it may have more.
   */
  @Override
  public StoredMessage deliver(UUID mailbox, MessageFacts facts, StoredFlags flags, Instant saved) {
    if (!flags.keywords().isEmpty()) {
      return super.deliver(mailbox, facts, flags, saved);
    }
    Row row;
    try {
      row = session.execute(delivery(mailbox, facts, flags, saved)).one();
    } catch (DriverException e) {
      if (isWorthAnotherAttempt(e)) {
        return super.deliver(mailbox, facts, flags, saved);
      }
      throw e;
    }
    if (row == null || row.isNull(0)) {
      throw new NoMailboxException(mailbox);
    }
    return new StoredMessage(row.getLong(0), row.getLong(1) + 1, flags, saved, facts);
  }

  /** The node gives up sooner than the client's queue of those who had a conflict. */
  private static boolean isWorthAnotherAttempt(DriverException error) {
    return IsoldeException.find(error)
        .filter(found -> found.isRetryable() && found.outcome() == Outcome.NOT_COMMITTED)
        .isPresent();
  }

  private BoundStatement delivery(
      UUID mailbox, MessageFacts facts, StoredFlags flags, Instant saved) {
    return delivery
        .boundStatementBuilder()
        .setUuid("mailbox", mailbox)
        .setLong("unseen", flags.unseen())
        .setUuid("message", facts.messageId())
        .setUuid("thread", facts.threadId())
        .setInt("flags", flags.system())
        .setSet("keywords", flags.keywords(), String.class)
        .setInstant("received", facts.received())
        .setInstant("saved", saved)
        .setLong("size", facts.sizeBytes())
        .setInt("start", facts.bodyStart())
        .build();
  }

  @Override
  public StoredMessage copy(UUID from, long uid, UUID to, StoredFlags flags, Instant saved) {
    return isolde.run(OPTIONS, tx -> copy(tx, from, uid, to, flags, saved));
  }

  private StoredMessage copy(
      Transaction tx, UUID from, long uid, UUID to, StoredFlags flags, Instant saved) {
    List<StoredMessage> found = reads.select(from, new Uids.Those(List.of(uid)), tx::execute);
    if (found.isEmpty()) {
      throw new NoMessageException(uid);
    }
    MessageFacts facts = found.get(0).facts();
    return change(tx, to, Uids.NONE, view -> MailboxChanges.deliver(view, facts, flags, saved));
  }

  @Override
  public StoredMessage move(UUID from, long uid, UUID to, StoredFlags flags, Instant saved) {
    return isolde.run(
        OPTIONS,
        tx -> {
          StoredMessage moved = copy(tx, from, uid, to, flags, saved);
          List<StoredMessage> removed =
              change(tx, from, new Uids.Those(List.of(uid)), MailboxChanges::expunge);
          assert removed.size() == 1;
          return moved;
        });
  }

  @Override
  public boolean create(NamedMailbox mailbox) {
    return all(tables.takeNameIf(mailbox), List.of(tables.start(mailbox)));
  }

  @Override
  public boolean rename(NamedMailbox from, NamedMailbox to) {
    return all(tables.takeNameIf(to), List.of(tables.freeNameIf(from), tables.hint(to)));
  }

  @Override
  public boolean changeRights(NamedMailbox from, NamedMailbox to) {
    List<BoundStatement> others = new ArrayList<>(shares(from, to));
    others.addAll(unshares(from, to));
    return all(tables.setRightsIf(from, to), others);
  }

  @Override
  public boolean delete(NamedMailbox mailbox) {
    List<BoundStatement> others = new ArrayList<>();
    others.add(tables.drop(mailbox.id()));
    others.addAll(tables.unshare(mailbox.rights().keySet(), mailbox.id()));
    return all(tables.freeNameIf(mailbox), others);
  }

  /** Conditions of several tables and partitions hold together, or nothing is written. */
  private boolean all(BoundStatement first, List<BoundStatement> others) {
    List<BoundStatement> statements = new ArrayList<>();
    statements.add(first);
    statements.addAll(others);
    return requests.batch(DefaultBatchType.LOGGED, statements);
  }
}
