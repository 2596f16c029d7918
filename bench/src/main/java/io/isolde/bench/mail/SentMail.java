// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What was sent to a mail server, and which of it the server said it has. For all threads. */
final class SentMail {

  /**
   * A message.
   *
   * @param isAnswered whether the server has said 250; else it may have it or not
   */
  record Sent(Letter letter, boolean isAnswered) {}

  /**
   * A message in an inbox.
   *
   * @param id its Message-ID, without brackets
   */
  record Found(String recipient, String id) {}

  /**
   * What is wrong.
   *
   * @param answered messages that the server said it has
   * @param lost those of them that are not in the inbox
   * @param doubled how many there are too many, of messages that are there more than once
   * @param invented what nobody has sent to this inbox
   * @param damaged messages whose body is another one, of those that were looked at
   */
  record Verdict(long answered, long lost, long doubled, long invented, long damaged) {
    static final Verdict NOTHING = new Verdict(0, 0, 0, 0, 0);

    Verdict and(Verdict other) {
      return new Verdict(
          answered + other.answered,
          lost + other.lost,
          doubled + other.doubled,
          invented + other.invented,
          damaged + other.damaged);
    }
  }

  /** As many as one run sends; it ends by time. */
  private final Map<String, Sent> all = new HashMap<>();

  private long answered;
  private long answeredBytes;

  /** Remembers a message, once it is known whether the server has it. */
  synchronized void add(Letter letter, boolean isAnswered) {
    if (all.put(letter.id(), new Sent(letter, isAnswered)) != null) {
      throw new IllegalStateException("Two messages have the id %s.".formatted(letter.id()));
    }
    if (isAnswered) {
      answered++;
      answeredBytes += letter.bytes();
    }
  }

  /** Remembers all that another one remembers, which no longer changes. */
  void addAll(SentMail other) {
    other.all.values().forEach(sent -> add(sent.letter(), sent.isAnswered()));
  }

  /** How many messages the server said it has. */
  synchronized long answered() {
    return answered;
  }

  /** The mean size of these. */
  synchronized double meanBytes() {
    return (double) answeredBytes / answered;
  }

  /** The message of an id, or null. */
  synchronized Letter letter(String id) {
    Sent sent = all.get(id);
    return sent == null ? null : sent.letter;
  }

  /**
   * Compares what was answered with what is in all inboxes.
   *
   * @param damaged messages whose body was found to be another one
   */
  synchronized Verdict compare(Collection<Found> inboxes, long damaged) {
    Map<String, List<Found>> byId = new HashMap<>();
    long invented = 0;
    for (Found found : inboxes) {
      Sent sent = all.get(found.id());
      if (sent == null || !sent.letter.recipient().equals(found.recipient())) {
        invented++;
      } else {
        byId.computeIfAbsent(found.id(), id -> new ArrayList<>()).add(found);
      }
    }
    long lost =
        all.values().stream()
            .filter(sent -> sent.isAnswered && !byId.containsKey(sent.letter.id()))
            .count();
    long doubled = byId.values().stream().mapToLong(places -> places.size() - 1L).sum();
    return new Verdict(answered, lost, doubled, invented, damaged);
  }
}
