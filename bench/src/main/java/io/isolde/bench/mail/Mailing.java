// SPDX-License-Identifier: Apache-2.0
package io.isolde.bench.mail;

import io.isolde.bench.kit.Load;
import io.isolde.bench.kit.Measurement;
import io.isolde.bench.kit.Workload;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/** Messages of a range of sizes, to users by chance, through one mail server. */
final class Mailing implements Load {
  private final String name;
  private final LetterSizes sizes;
  private final List<String> users;
  private final SmtpSender sender;
  private final Executor threads;
  private final SentMail sent = new SentMail();
  private final AtomicLong lastNumber = new AtomicLong();

  /**
   * @param name part of each Message-ID; no other mailing to the same users may have it
   * @param threads as many as messages that are sent at a time
   */
  Mailing(String name, LetterSizes sizes, List<String> users, SmtpSender sender, Executor threads) {
    this.name = name;
    this.sizes = sizes;
    this.users = List.copyOf(users);
    this.sender = sender;
    this.threads = threads;
  }

  /** Part of each Message-ID. */
  String name() {
    return name;
  }

  /** What was sent so far. */
  SentMail sent() {
    return sent;
  }

  /**
   * Counts all messages and all the time until the last is answered: a message takes long, so the
   * last ones are too many to be left out.
   */
  @Override
  public Measurement run(int atOnce, Duration duration) {
    Workload sending = this::send;
    long before = sent.answered();
    long startNanos = System.nanoTime();
    Measurement seen = sending.run(atOnce, duration);
    double seconds = (System.nanoTime() - startNanos) / 1e9;
    long answered = sent.answered() - before;
    return new Measurement(
        answered,
        answered / seconds,
        seen.meanMillis(),
        seen.p50Millis(),
        seen.p99Millis(),
        seen.errors(),
        seen.firstError());
  }

  private CompletionStage<?> send() {
    return CompletableFuture.runAsync(
        () -> {
          long number = lastNumber.incrementAndGet();
          String user = users.get(ThreadLocalRandom.current().nextInt(users.size()));
          send(
              new Letter(
                  "%s.%d@bench.example.com".formatted(name, number),
                  number,
                  user,
                  sizes.bytes(number)));
        },
        threads);
  }

  private void send(Letter letter) {
    boolean isAnswered = false;
    try {
      sender.send(letter);
      isAnswered = true;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      sent.add(letter, isAnswered);
    }
  }
}
