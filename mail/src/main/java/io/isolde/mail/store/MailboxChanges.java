// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/** Every change that a mailbox can go through, decided from what it is. No input and no output. */
public final class MailboxChanges {
  private MailboxChanges() {}

  /** Gives a message the next UID and the next modification sequence. */
  public static MailboxChange<StoredMessage> deliver(
      MailboxView view, MessageFacts facts, StoredFlags flags, Instant saved) {
    Numbers after =
        view.numbers().numbered().modified().plus(1, flags.unseen()).knowing(flags.keywords());
    StoredMessage message =
        new StoredMessage(view.numbers().nextUid(), after.highestModSeq(), flags, saved, facts);
    return MailboxChange.of(after, List.of(message), List.of(), List.of(), message);
  }

  /**
   * As {@link #deliver}, with an entry, unless that is there: then nothing changes.
   *
   * @param view with the entry, if there is one
   * @throws DeliveredBeforeException if the entry is of another message
   */
  public static MailboxChange<StoredMessage> deliverOnce(
      MailboxView view, DeliveryId id, MessageFacts facts, StoredFlags flags, Instant saved) {
    Optional<Delivered> earlier =
        view.delivered().stream().filter(entry -> entry.id().equals(id)).findFirst();
    if (earlier.isPresent()) {
      return MailboxChange.ofNumbers(view.numbers(), same(earlier.get(), facts, flags, saved));
    }
    MailboxChange<StoredMessage> change = deliver(view, facts, flags, saved);
    StoredMessage message = change.answer();
    return new MailboxChange<>(
        change.after(),
        change.listed(),
        List.of(),
        List.of(),
        List.of(new Delivered(id, facts.messageId(), message.uid(), message.modSeq())),
        message);
  }

  /**
   * As {@link #deliver} and {@link #deliverOnce}, one message after the other.
   *
   * @return for each its message, or what is thrown for this one alone
   */
  public static MailboxChange<List<Supplier<StoredMessage>>> deliverAll(
      MailboxView view, List<NewMessage> deliveries) {
    MailboxView now = view;
    List<StoredMessage> listed = new ArrayList<>();
    Map<Long, Delivered> remembered = new HashMap<>();
    Map<Long, Delivered> entries = new HashMap<>();
    view.delivered().forEach(entry -> entries.put(entry.id().place(), entry));
    List<Supplier<StoredMessage>> answers = new ArrayList<>();
    for (NewMessage each : deliveries) {
      try {
        MailboxChange<StoredMessage> change = deliver(now, each);
        listed.addAll(change.listed());
        change.delivered().forEach(entry -> remembered.put(entry.id().place(), entry));
        entries.putAll(remembered);
        now = new MailboxView(change.after(), view.messages(), List.copyOf(entries.values()));
        answers.add(change::answer);
      } catch (DeliveredBeforeException | TooManyKeywordsException e) {
        answers.add(
            () -> {
              throw e;
            });
      }
    }
    return new MailboxChange<>(
        now.numbers(), listed, List.of(), List.of(), List.copyOf(remembered.values()), answers);
  }

  private static MailboxChange<StoredMessage> deliver(MailboxView view, NewMessage delivery) {
    return delivery.id().isEmpty()
        ? deliver(view, delivery.facts(), delivery.flags(), delivery.saved())
        : deliverOnce(
            view, delivery.id().get(), delivery.facts(), delivery.flags(), delivery.saved());
  }

  /**
   * The message of an entry: an attempt of which nobody had an answer has delivered it.
   *
   * @throws DeliveredBeforeException if the entry is of another message
   */
  public static StoredMessage same(
      Delivered earlier, MessageFacts facts, StoredFlags flags, Instant saved) {
    if (!earlier.messageId().equals(facts.messageId())) {
      throw new DeliveredBeforeException(earlier);
    }
    return new StoredMessage(earlier.uid(), earlier.modSeq(), flags, saved, facts);
  }

  /**
   * Lists a message whose UID and modification sequence were given before. If the UID is there, the
   * message takes its place.
   *
   * @param view with the message of that UID, if there is one
   */
  public static MailboxChange<StoredMessage> list(MailboxView view, StoredMessage message) {
    long before = view.messages().size();
    long unseenBefore = view.messages().stream().mapToInt(old -> old.flags().unseen()).sum();
    Numbers after =
        view.numbers()
            .atLeast(message.uid(), message.modSeq())
            .plus(1 - before, message.flags().unseen() - unseenBefore)
            .knowing(message.flags().keywords());
    return MailboxChange.of(after, List.of(message), List.of(), List.of(), message);
  }

  /** Changes flags of the messages in view. Those that change have one modification sequence. */
  public static MailboxChange<List<FlagChange>> flag(
      MailboxView view, UnaryOperator<StoredFlags> newFlags) {
    long modSeq = view.numbers().highestModSeq() + 1;
    List<StoredMessage> flagged = new ArrayList<>();
    List<FlagChange> answer = new ArrayList<>();
    Numbers after = view.numbers();
    for (StoredMessage message : view.messages()) {
      StoredFlags before = message.flags();
      StoredFlags flags = newFlags.apply(before);
      if (flags.equals(before)) {
        answer.add(new FlagChange(before, message));
        continue;
      }
      StoredMessage changed = message.flagged(flags, modSeq);
      flagged.add(changed);
      answer.add(new FlagChange(before, changed));
      after = after.plus(0, flags.unseen() - before.unseen()).knowing(flags.keywords());
    }
    return MailboxChange.of(
        flagged.isEmpty() ? after : after.modified(), List.of(), flagged, List.of(), answer);
  }

  /** Removes the messages in view. */
  public static MailboxChange<List<StoredMessage>> expunge(MailboxView view) {
    List<StoredMessage> removed = view.messages();
    long unseen = removed.stream().mapToInt(message -> message.flags().unseen()).sum();
    Numbers after =
        removed.isEmpty()
            ? view.numbers()
            : view.numbers().modified().plus(-removed.size(), -unseen);
    return MailboxChange.of(after, List.of(), List.of(), removed, removed);
  }

  /** Gives a UID for a message that is listed later. */
  public static MailboxChange<Long> giveUid(MailboxView view) {
    return MailboxChange.ofNumbers(view.numbers().numbered(), view.numbers().nextUid());
  }

  /** Gives a modification sequence for a message that is listed later. */
  public static MailboxChange<Long> giveModSeq(MailboxView view) {
    Numbers after = view.numbers().modified();
    return MailboxChange.ofNumbers(after, after.highestModSeq());
  }
}
