// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.DriverException;
import com.datastax.oss.driver.api.core.cql.BoundStatement;
import com.datastax.oss.driver.api.core.cql.BoundStatementBuilder;
import com.datastax.oss.driver.api.core.cql.DefaultBatchType;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.IsoldeException;
import io.isolde.client.Outcome;
import io.isolde.client.Transaction;
import io.isolde.client.TransactionOptions;
import io.isolde.mail.store.Delivered;
import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.MailboxChange;
import io.isolde.mail.store.MailboxChanges;
import io.isolde.mail.store.MailboxView;
import io.isolde.mail.store.MessageFacts;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NewMessage;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.Numbers;
import io.isolde.mail.store.StoredFlags;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

/** Each change is a transaction of Isolde, also one of two mailboxes. */
final class TransactionalWrites extends CqlWrites {

  /** Conflicts are those over one busy mailbox; the limit of time stays as it is. */
  private static final TransactionOptions OPTIONS =
      TransactionOptions.builder().maxAttempts(200).build();

  /**
   * A delivery as one request: the node runs it again after a conflict. What stands between # is
   * for those with an id only.
   */
  private static final String DELIVERY =
      """
      BEGIN TRANSACTION
        LET m = (SELECT uid, next_uid, highest_modseq, message_count, unseen_count FROM $messages
            WHERE mailbox_id = :mailbox AND uid = :first);
        #LET e = (SELECT delivery, delivered_id, delivered_uid, modseq FROM $messages
            WHERE mailbox_id = :mailbox AND uid = :place);#
        SELECT m.next_uid, m.highest_modseq#, e.delivery, e.delivered_id, e.delivered_uid,
            e.modseq#;
        IF m.next_uid IS NOT NULL #AND NOT (e.delivery = :delivery)# THEN
          UPDATE $messages SET next_uid = m.next_uid + 1, highest_modseq = m.highest_modseq + 1,
              message_count = m.message_count + 1, unseen_count = m.unseen_count + :unseen
              WHERE mailbox_id = :mailbox;
          INSERT INTO $messages (mailbox_id, uid, modseq, message_id, thread_id, system_flags,
              user_flags, received, saved, size_bytes, body_start)
              VALUES (:mailbox, m.next_uid, m.highest_modseq + 1, :message, :thread, :flags,
              :keywords, :received, :saved, :size, :start);
          INSERT INTO $places (message_id, mailbox_id, uid)
              VALUES (:message, :mailbox, m.next_uid);
          #INSERT INTO $messages (mailbox_id, uid, delivery, delivered_id, delivered_uid, modseq)
              VALUES (:mailbox, :place, :delivery, :message, m.next_uid, m.highest_modseq + 1)
              USING TTL %d;#
        END IF
      COMMIT TRANSACTION""";

  private final CqlSession session;
  private final Isolde isolde;
  private final MailboxReads reads;
  private final MailRequests requests;
  private final PreparedStatement delivery;
  private final PreparedStatement deliveryOnce;

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
    String block = DELIVERY.replace("$", keyspace + ".");
    this.delivery = session.prepare(block.replaceAll("#[^#]*#", ""));
    this.deliveryOnce =
        session.prepare(block.replace("#", "").formatted(DeliveryId.REMEMBERED.toSeconds()));
  }

  @Override
  public <T> T change(UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision) {
    return run(tx -> change(tx, mailbox, read, decision));
  }

  /** A commit that is decided counts, also if nodes have not applied it in time. */
  private <T> T run(Function<Transaction, T> work) {
    AtomicReference<T> last = new AtomicReference<>();
    try {
      return isolde.run(OPTIONS, tx -> remember(last, work.apply(tx)));
    } catch (IsoldeException e) {
      return switch (e.outcome()) {
        case COMMITTED -> last.get();
        case NOT_COMMITTED -> throw new NotChangedException(e);
        case UNKNOWN -> throw e;
      };
    }
  }

  private static <T> T remember(AtomicReference<T> last, T answer) {
    last.set(answer);
    return answer;
  }

  private <T> T change(
      Transaction tx, UUID mailbox, Uids read, Function<MailboxView, MailboxChange<T>> decision) {
    MailboxView view = reads.view(mailbox, read, tx::execute, tx::execute);
    Numbers before = view.numbers();
    MailboxChange<T> change = decision.apply(view);
    if (writes(before, change)) {
      tx.write(tables.setNumbers(mailbox, change.after()));
      rows(mailbox, before, change).forEach(tx::write);
      placed(mailbox, change).forEach(tx::write);
      unplaced(mailbox, change).forEach(tx::write);
    }
    return change.answer();
  }

  /**
   * One message as a block, unless it has keywords: then the mailbox must be asked whether it may
   * have more. The node gives up sooner than the client's queue of those who had a conflict.
   */
  @Override
  List<Supplier<StoredMessage>> list(UUID mailbox, List<NewMessage> deliveries) {
    NewMessage first = deliveries.get(0);
    if (deliveries.size() == 1 && first.flags().keywords().isEmpty()) {
      try {
        StoredMessage message = asBlock(mailbox, first);
        return List.of(() -> message);
      } catch (DriverException e) {
        if (!isWorthAnotherAttempt(e, first)) {
          throw e;
        }
        return listAgain(mailbox, deliveries, e);
      }
    }
    return super.list(mailbox, deliveries);
  }

  /** The block may have listed the message after all, so nobody is sure that it is not listed. */
  private List<Supplier<StoredMessage>> listAgain(
      UUID mailbox, List<NewMessage> deliveries, DriverException before) {
    try {
      return super.list(mailbox, deliveries);
    } catch (NotChangedException e) {
      before.addSuppressed(e);
      throw before;
    }
  }

  /** One with an id the driver may repeat by itself: the entry says that it was there. */
  private StoredMessage asBlock(UUID mailbox, NewMessage message) {
    if (message.id().isEmpty()) {
      return delivered(execute(mailbox, bind(delivery, mailbox, message).build()), message);
    }
    DeliveryId id = message.id().get();
    Row row =
        execute(
            mailbox,
            bind(deliveryOnce, mailbox, message)
                .setLong("place", id.place())
                .setString("delivery", id.hash())
                .setIdempotence(true)
                .build());
    return id.hash().equals(row.getString(2))
        ? MailboxChanges.same(entry(id, row), message.facts(), message.flags(), message.saved())
        : delivered(row, message);
  }

  private Row execute(UUID mailbox, BoundStatement block) {
    Row row = session.execute(block).one();
    if (row == null || row.isNull(0)) {
      throw new NoMailboxException(mailbox);
    }
    return row;
  }

  private static Delivered entry(DeliveryId id, Row row) {
    return new Delivered(id, row.getUuid(3), row.getLong(4), row.getLong(5));
  }

  private static StoredMessage delivered(Row row, NewMessage message) {
    return new StoredMessage(
        row.getLong(0), row.getLong(1) + 1, message.flags(), message.saved(), message.facts());
  }

  /** Also if it is listed, and its entry says where. */
  private static boolean isWorthAnotherAttempt(DriverException error, NewMessage message) {
    return IsoldeException.find(error)
        .filter(
            found ->
                found.outcome() == Outcome.COMMITTED
                    ? message.id().isPresent()
                    : found.isRetryable() && found.outcome() == Outcome.NOT_COMMITTED)
        .isPresent();
  }

  private static BoundStatementBuilder bind(
      PreparedStatement block, UUID mailbox, NewMessage message) {
    MessageFacts facts = message.facts();
    StoredFlags flags = message.flags();
    return block
        .boundStatementBuilder()
        .setUuid("mailbox", mailbox)
        .setLong("first", MailTables.FIRST_ROW)
        .setLong("unseen", flags.unseen())
        .setUuid("message", facts.messageId())
        .setUuid("thread", facts.threadId())
        .setInt("flags", flags.system())
        .setSet("keywords", flags.keywords(), String.class)
        .setInstant("received", facts.received())
        .setInstant("saved", message.saved())
        .setLong("size", facts.sizeBytes())
        .setInt("start", facts.bodyStart());
  }

  @Override
  public StoredMessage copy(UUID from, long uid, UUID to, StoredFlags flags, Instant saved) {
    return run(tx -> copy(tx, from, uid, to, flags, saved));
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
    return run(
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
