// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import static io.isolde.oracle.OracleFixture.begin;
import static io.isolde.oracle.OracleFixture.decide;
import static io.isolde.oracle.OracleFixture.pendingOf;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;

/**
 * Commands to an oracle, at random. Arguments that depend on the oracle are taken from it, so two
 * oracles that differ soon answer differently.
 */
final class RandomCommands {
  /** An id is new, or one of as many that came before. */
  private static final int LAST_TRANSACTIONS = 10;

  private static final int ROWS = 30;

  /** Its answer is compared; what it throws is an answer, too. */
  interface Command {
    Object execute(StatusOracle oracle);

    default Object apply(StatusOracle oracle) {
      try {
        return execute(oracle);
      } catch (IllegalArgumentException | IllegalStateException e) {
        return e.getMessage();
      }
    }
  }

  private final Random random;
  private long transactions;
  private long now = 100;
  private OracleConfig config;

  RandomCommands(long seed) {
    random = new Random(seed);
  }

  /** The configuration of an oracle that began with another and got all commands so far. */
  OracleConfig configOf(OracleConfig first) {
    return config == null ? first : config;
  }

  Command next() {
    now += random.nextInt(10) - 2L;
    long time = now;
    UUID id = id();
    long session = random.nextInt(3);
    return switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4 ->
          commit(request -> oracle -> decide(oracle, request.apply(oracle), time));
      case 5, 6, 7 ->
          commit(
              request -> oracle -> oracle.commit(request.apply(oracle), session, 0, time, false));
      case 8 -> oracle -> oracle.abort(id);
      case 9 -> oracle -> oracle.outcome(id);
      case 10 -> oracle -> oracle.next(time);
      case 11 -> oracle -> pendingOf(oracle, session);
      case 12 -> oracle -> oracle.isPending(oracle.stable() + 2);
      case 13 -> reserve();
      case 14 -> inDoubt();
      case 15 -> random.nextInt(10) == 0 ? reconfigure() : oracle -> begin(oracle, time);
      default -> applied();
    };
  }

  private Command commit(Function<Function<StatusOracle, CommitRequest>, Command> how) {
    UUID id = random.nextInt(8) == 0 ? null : id();
    IsolationLevel level =
        random.nextBoolean() ? IsolationLevel.SNAPSHOT : IsolationLevel.SERIALIZABLE;
    long age = random.nextInt(60);
    long[] reads = random.longs(random.nextInt(4), 0, ROWS).toArray();
    long[] writes = random.longs(1 + random.nextInt(4), 0, ROWS).toArray();
    return how.apply(
        oracle ->
            new CommitRequest(
                id, level, Math.max(0, oracle.stable() - age), reads, writes, writes));
  }

  private Command applied() {
    int choice = random.nextInt(3);
    return oracle -> {
      Optional<PendingCommit> commit = pendingOf(oracle, choice).stream().findFirst();
      commit.ifPresent(pending -> oracle.applied(pending.commitTimestamp()));
      return commit;
    };
  }

  private Command inDoubt() {
    return oracle -> {
      oracle.overdue(oracle.lastIssued()).stream().findFirst().ifPresent(oracle::inDoubt);
      return List.of(oracle.inDoubt().epoch(), oracle.inDoubt().commits().keySet());
    };
  }

  private Command reserve() {
    long time = now;
    return oracle -> {
      oracle.reserve(Math.max(time, oracle.lastIssued()) + 100);
      return oracle.reservedUntil();
    };
  }

  private Command reconfigure() {
    OracleConfig changed =
        OracleFixture.CONFIG
            .withMaxRows(1 + random.nextInt(30))
            .withMaxOutcomes(1 + random.nextInt(8))
            .withMaxPendingCommits(1 + random.nextInt(6))
            .withOutcomeRetentionMicros(1 + random.nextInt(200))
            .withRetentionMicros(random.nextInt(30));
    config = changed;
    return oracle -> {
      oracle.reconfigure(changed);
      return oracle.statistics();
    };
  }

  private UUID id() {
    transactions++;
    return new UUID(5, transactions - random.nextInt(LAST_TRANSACTIONS));
  }
}
