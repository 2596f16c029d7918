// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.killed;

import static org.assertj.core.api.Assertions.assertThat;

import io.isolde.mail.server.RawClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What an inbox shows to a client of IMAP, and what is wrong with it. */
final class ListedInbox {
  private static final Pattern FETCHED = Pattern.compile("(?m)^\\* \\d+ FETCH ");
  private static final Pattern UID = Pattern.compile("\\bUID (\\d+)");
  private static final Pattern MODSEQ = Pattern.compile("\\bMODSEQ \\((\\d+)\\)");
  private static final Pattern MESSAGE_ID = Pattern.compile("(?i)Message-ID: (<[^>]+>)");

  private record Message(String messageId, long uid, long modSeq) {}

  private final String user;
  private final Map<String, Long> status = new HashMap<>();
  private final List<Message> messages = new ArrayList<>();

  private ListedInbox(String user) {
    this.user = user;
  }

  /** Reads an inbox whose messages are all unseen. */
  static ListedInbox read(int imapPort, String user, String password) throws IOException {
    ListedInbox inbox = new ListedInbox(user);
    try (RawClient client = new RawClient(imapPort)) {
      assertThat(client.read()).startsWith("* OK");
      assertThat(ask(client, "a", "LOGIN %s \"%s\"".formatted(user, password))).contains("a OK");
      String status = ask(client, "b", "STATUS INBOX (MESSAGES UNSEEN UIDNEXT HIGHESTMODSEQ)");
      for (String name : List.of("MESSAGES", "UNSEEN", "UIDNEXT", "HIGHESTMODSEQ")) {
        inbox.status.put(name, number(Pattern.compile("\\b" + name + " (\\d+)"), status));
      }
      // Not SELECT, which takes the flag RECENT from all: they would have other numbers then.
      String selected = ask(client, "c", "EXAMINE INBOX");
      inbox.status.put("EXISTS", number(Pattern.compile("\\* (\\d+) EXISTS"), selected));
      String fetched =
          ask(client, "d", "UID FETCH 1:* (UID MODSEQ BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])");
      String[] parts = FETCHED.split(fetched, -1);
      for (int i = 1; i < parts.length; i++) {
        Matcher id = MESSAGE_ID.matcher(parts[i]);
        assertThat(id.find()).as(parts[i]).isTrue();
        inbox.messages.add(
            new Message(id.group(1), number(UID, parts[i]), number(MODSEQ, parts[i])));
      }
    }
    return inbox;
  }

  private static String ask(RawClient client, String tag, String command) throws IOException {
    client.send("%s %s\r\n".formatted(tag, command));
    StringBuilder answer = new StringBuilder();
    String line;
    do {
      line = client.read();
      assertThat(line).as("the answer to %s", command).isNotNull();
      answer.append(line).append('\n');
    } while (!line.startsWith(tag + " "));
    assertThat(line).startsWith(tag + " OK");
    return answer.toString();
  }

  private static long number(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    assertThat(matcher.find()).as("%s in %s", pattern, text).isTrue();
    return Long.parseLong(matcher.group(1));
  }

  /** How many messages it lists. */
  int size() {
    return messages.size();
  }

  /** Compares it with what was sent to it and answered. Each problem is a sentence. */
  List<String> problems(List<Senders.Sent> sent) {
    Map<String, Senders.Sent> expected = new HashMap<>();
    sent.stream()
        .filter(message -> message.recipients().contains(user))
        .forEach(message -> expected.put(message.messageId(), message));
    List<String> problems = new ArrayList<>();
    Set<String> found = new HashSet<>();
    for (Message message : messages) {
      if (!found.add(message.messageId())) {
        problems.add("doubled: " + message);
      }
      if (!expected.containsKey(message.messageId())) {
        problems.add("never sent: " + message);
      }
    }
    expected.keySet().stream()
        .filter(id -> !found.contains(id))
        .forEach(id -> problems.add("lost: " + id));
    problems.addAll(wrongNumbers());
    problems.addAll(wrongOrder(expected));
    return problems.stream().map(problem -> user + ": " + problem).toList();
  }

  /** Nothing was removed or flagged here: so all numbers follow from the count of messages. */
  private List<String> wrongNumbers() {
    List<String> problems = new ArrayList<>();
    long count = messages.size();
    Map<String, Long> right =
        Map.of(
            "MESSAGES", count,
            "UNSEEN", count,
            "EXISTS", count,
            "UIDNEXT", count + 1,
            "HIGHESTMODSEQ", count);
    right.forEach(
        (name, number) -> {
          if (!number.equals(status.get(name))) {
            problems.add("%s is %d, and should be %d".formatted(name, status.get(name), number));
          }
        });
    for (int i = 0; i < count; i++) {
      Message message = messages.get(i);
      if (message.uid() != i + 1 || message.modSeq() != i + 1) {
        problems.add("wrong numbers of message %d: %s".formatted(i + 1, message));
      }
    }
    return problems;
  }

  /** A message that was sent after another one had been answered must have the higher UID. */
  private List<String> wrongOrder(Map<String, Senders.Sent> expected) {
    List<String> problems = new ArrayList<>();
    long lastStart = Long.MIN_VALUE;
    for (Message message : messages) {
      Senders.Sent sent = expected.get(message.messageId());
      if (sent == null) {
        continue;
      }
      if (lastStart != Long.MIN_VALUE && sent.endNanos() - lastStart < 0) {
        problems.add("a message that was sent later has a lower UID than " + message);
      }
      lastStart =
          lastStart == Long.MIN_VALUE ? sent.startNanos() : Math.max(lastStart, sent.startNanos());
    }
    return problems;
  }
}
