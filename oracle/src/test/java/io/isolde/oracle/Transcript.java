// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Runs a transcript: lines that begin with {@code >} are commands, each followed by its answer;
 * empty lines and those that begin with {@code #} are for the reader. Rows and transactions have
 * names.
 */
final class Transcript {
  private final Names names = new Names();
  private final Map<String, Long> starts = new HashMap<>();
  private StatusOracle oracle;

  /** The lines of a transcript with the answers as they are. */
  static String run(List<String> lines) {
    Transcript transcript = new Transcript();
    StringBuilder result = new StringBuilder();
    for (String line : lines) {
      if (line.startsWith(">")) {
        String answer = transcript.answer(new Command(line.substring(1).trim()));
        result.append(line).append('\n').append(answer).append('\n');
      } else if (line.isEmpty() || line.startsWith("#")) {
        result.append(line).append('\n');
      }
    }
    return result.toString();
  }

  /** As {@code commit t1 serializable reads=x,y now=20}: words, then options. */
  private static final class Command {
    final List<String> words;
    private final Map<String, String> options = new HashMap<>();

    Command(String line) {
      List<String> parts = Arrays.asList(line.split(" +", -1));
      words = parts.stream().filter(part -> !part.contains("=")).toList();
      for (String part : parts) {
        if (part.contains("=")) {
          options.put(part.substring(0, part.indexOf('=')), part.substring(part.indexOf('=') + 1));
        }
      }
    }

    String word(int index) {
      return words.get(index);
    }

    long number(String option, long otherwise) {
      String value = options.get(option);
      return value == null ? otherwise : Long.parseLong(value);
    }

    long now() {
      return number("now", 0);
    }

    String[] list(String option) {
      String value = options.get(option);
      return value == null ? new String[0] : value.split(",", -1);
    }
  }

  private String answer(Command command) {
    try {
      return execute(command);
    } catch (IllegalArgumentException | IllegalStateException e) {
      return "error: " + e.getMessage();
    }
  }

  private String execute(Command command) {
    return switch (command.word(0)) {
      case "oracle" -> create(command);
      case "begin" -> begin(command);
      case "commit" -> show(OracleFixture.decide(oracle, requestOf(command), command.now()));
      case "applied" -> applied(command);
      case "set-aside" -> inDoubt(command);
      case "outcome" ->
          oracle.outcome(transactionOf(command)).map(this::show).orElse("nothing is known");
      case "next" -> "timestamp " + oracle.next(command.now());
      case "advance-to" -> advanceTo(command);
      case "reserve" -> reserve(command);
      case "state" -> state(command);
      case "counters" -> counters();
      default -> throw new AssertionError("No such command: " + command.words);
    };
  }

  private String create(Command command) {
    OracleConfig all = OracleConfig.defaults();
    OracleConfig config =
        new OracleConfig(
            (int) command.number("maxRows", 1000),
            (int) command.number("maxPendingCommits", all.maxPendingCommits()),
            (int) command.number("maxOutcomes", 1000),
            command.number("outcomeRetentionMicros", all.outcomeRetentionMicros()),
            command.number("retentionMicros", all.retentionMicros()));
    oracle = new StatusOracle(config);
    oracle.reserve(command.number("reserved", 0));
    return "ok";
  }

  private String begin(Command command) {
    long start = OracleFixture.begin(oracle, command.now());
    starts.put(command.word(1), start);
    return "starts at " + start;
  }

  /** What is overwritten and what is written is the same unless the transcript tells. */
  private CommitRequest requestOf(Command command) {
    String[] writes = command.list("writes");
    String[] overwrites = command.list("overwrites");
    return new CommitRequest(
        transactionOf(command),
        command.word(2).equals("snapshot") ? IsolationLevel.SNAPSHOT : IsolationLevel.SERIALIZABLE,
        command.number("start", starts.getOrDefault(command.word(1), 0L)),
        names.ids(command.list("reads")),
        names.ids(overwrites.length == 0 ? writes : overwrites),
        names.ids(writes));
  }

  private String applied(Command command) {
    oracle.applied(Long.parseLong(command.word(1)));
    return "stable " + oracle.stable();
  }

  private String inDoubt(Command command) {
    oracle.inDoubt(Long.parseLong(command.word(1)));
    return "stable %d, set aside %s"
        .formatted(oracle.stable(), oracle.inDoubt().commits().keySet());
  }

  private String advanceTo(Command command) {
    oracle.advanceTo(Long.parseLong(command.word(1)));
    return "ok";
  }

  private String reserve(Command command) {
    oracle.reserve(Long.parseLong(command.word(1)));
    return "reserved until " + oracle.reservedUntil();
  }

  private String state(Command command) {
    long stable = OracleFixture.begin(oracle, command.now());
    OracleStatistics statistics = oracle.statistics();
    return "stable %d, last issued %d, pending %d, rows %d, tmax %d"
        .formatted(
            stable,
            oracle.lastIssued(),
            statistics.pendingCommits(),
            statistics.rowsKept(),
            statistics.tmax());
  }

  private String counters() {
    OracleStatistics statistics = oracle.statistics();
    return "committed %d, aborted %d read-write, %d write-write, %d forgotten, refused %d"
        .formatted(
            statistics.committed(),
            statistics.readWriteAborts(),
            statistics.writeWriteAborts(),
            statistics.forgottenAborts(),
            statistics.refused());
  }

  private UUID transactionOf(Command command) {
    return names.transaction(command.word(1));
  }

  private String show(Decision decision) {
    if (decision instanceof Decision.Committed committed) {
      String wait = committed.applyAfter() == 0 ? "" : ", apply after " + committed.applyAfter();
      return "committed at " + committed.commitTimestamp() + wait;
    }
    if (decision instanceof Decision.Aborted aborted) {
      return show(aborted.conflict());
    }
    return "refused: " + ((Decision.Refused) decision).reason();
  }

  private String show(Outcome outcome) {
    return outcome instanceof Outcome.Committed committed
        ? "committed at " + committed.commitTimestamp()
        : show(((Outcome.Aborted) outcome).conflict());
  }

  private String show(Conflict conflict) {
    String by = conflict.by() == null ? "" : " by " + names.name(conflict.by());
    return "aborted: %s, %s committed at %d%s"
        .formatted(conflict.kind(), names.name(conflict.id()), conflict.committedAt(), by);
  }
}
