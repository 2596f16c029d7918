// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.killed;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.server.RawClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Clients that send messages, each over a connection at a time, to one of two servers. What is not
 * answered with 250 they send again at once to the other server, with the same bytes.
 */
final class Senders {
  private static final long PAUSE_MILLIS = 100;
  private static final int BODY_CHARACTERS = 200;

  /**
   * A message that was answered with 250.
   *
   * @param startNanos of the first attempt
   * @param endNanos when the answer was there
   */
  record Sent(String messageId, List<String> recipients, long startNanos, long endNanos) {}

  private final List<MailServerProcess> servers;
  private final List<String> users;
  private final int messages;
  private final long deadlineNanos;
  private final AtomicInteger answered = new AtomicInteger();
  private final AtomicInteger repeated = new AtomicInteger();
  private volatile int mayAnswer;

  /**
   * @param users in whose inboxes the messages go: each into one, and each third into two
   * @param messages that all of them send together
   */
  Senders(List<MailServerProcess> servers, List<String> users, int messages, long maxSeconds) {
    this.servers = servers;
    this.users = users;
    this.messages = messages;
    this.deadlineNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(maxSeconds);
  }

  /** How many messages have been answered with 250. */
  int answered() {
    return answered.get();
  }

  /** Lets them go on until so many messages have been answered. */
  void mayAnswer(int count) {
    mayAnswer = count;
  }

  /** How many attempts were not answered with 250. */
  int repeated() {
    return repeated.get();
  }

  /** Sends all messages. Returns when the last one has been answered with 250. */
  List<Sent> send(int connections) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(connections);
    try {
      List<Callable<List<Sent>>> jobs = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        int sender = i;
        jobs.add(() -> new Sender(sender).send(connections));
      }
      List<Sent> sent = new ArrayList<>();
      for (Future<List<Sent>> ofOne : threads.invokeAll(jobs)) {
        sent.addAll(ofOne.get());
      }
      return sent;
    } finally {
      threads.shutdownNow();
    }
  }

  private final class Sender {
    private final int number;
    private int server;
    private RawClient connection;

    Sender(int number) {
      this.number = number;
      this.server = number;
    }

    List<Sent> send(int connections) throws Exception {
      List<Sent> sent = new ArrayList<>();
      try {
        for (int i = number; i < messages; i += connections) {
          List<String> recipients = new ArrayList<>(List.of(users.get(i % users.size())));
          if (i % 3 == 0) {
            recipients.add(users.get((i + 1) % users.size()));
          }
          while (answered.get() >= mayAnswer) {
            requireTime();
            Thread.sleep(PAUSE_MILLIS);
          }
          String id = "<%d@sender%d.test>".formatted(i, number);
          long start = System.nanoTime();
          sendUntilAnswered(id, recipients);
          sent.add(new Sent(id, recipients, start, System.nanoTime()));
          answered.incrementAndGet();
        }
      } finally {
        disconnect();
      }
      return sent;
    }

    private void sendUntilAnswered(String id, List<String> recipients) throws Exception {
      while (!isAccepted(id, recipients)) {
        requireTime();
        repeated.incrementAndGet();
        disconnect();
        server++;
        Thread.sleep(PAUSE_MILLIS);
      }
    }

    private void requireTime() {
      assertThat(System.nanoTime()).as("the time for all messages").isLessThan(deadlineNanos);
    }

    private boolean isAccepted(String id, List<String> recipients) throws IOException {
      try {
        if (connection == null) {
          connection = new RawClient(servers.get(server % servers.size()).smtpPort());
          if (!is(connection.readAnswer(), "220") || !is(connection.say("EHLO c.test"), "250")) {
            return false;
          }
        }
        if (!is(connection.say("MAIL FROM:<sender%d@c.test>".formatted(number)), "250")) {
          return false;
        }
        for (String recipient : recipients) {
          if (!is(connection.say("RCPT TO:<%s>".formatted(recipient)), "250")) {
            return false;
          }
        }
        if (!is(connection.say("DATA"), "354")) {
          return false;
        }
        connection.send(
            "Message-ID: %s\r\nSubject: x\r\n\r\n%s\r\n.\r\n"
                .formatted(id, "x".repeat(BODY_CHARACTERS)));
        return is(connection.readAnswer(), "250");
      } catch (IOException e) {
        return false; // the server was killed, or does not listen yet
      }
    }

    private static boolean is(String answer, String code) {
      return answer != null && answer.startsWith(code);
    }

    private void disconnect() throws IOException {
      if (connection != null) {
        connection.close();
        connection = null;
      }
    }
  }
}
