// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.config.NodeClock;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.raft.transport.Formats;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.apache.cassandra.schema.KeyspaceMetadata;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaChangeListener;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keyspaces and tables of Isolde, each made through one node at a time. Cassandra lets two nodes
 * make one of the same name at once, each with ids of its own; later one of them wins, and what
 * clients have written to the other is gone. So whoever makes one has the promise of more than half
 * of the nodes that they let in nobody else until their schemas have it.
 */
public final class NewNames {
  private static final Logger log = LoggerFactory.getLogger(NewNames.class);

  /** For another one that makes it just now, or has, and whose change is on its way here. */
  private static final long MAX_WAIT_MILLIS = 15_000;

  private static final long ANSWER_MILLIS = 3_000;

  /** A pull makes this node write all of its schema to disk again. */
  private static final long PULL_MILLIS = 3_000;

  private static final int MIN_PAUSE_MILLIS = 20;
  private static final int MAX_PAUSE_MILLIS = 200;

  private final BiFunction<String, EveryNode.Question, PatientRequest> ask;

  /** Guarded by itself. */
  private final ReservedNames reserved = new ReservedNames();

  NewNames(BiFunction<String, EveryNode.Question, PatientRequest> ask) {
    this.ask = ask;
  }

  /** Hears from now on what is made. */
  void follow() {
    Schema.instance.registerListener(
        new SchemaChangeListener() {
          @Override
          public void onCreateKeyspace(KeyspaceMetadata keyspace) {
            made(new NewName(keyspace.name, null));
          }

          @Override
          public void onCreateTable(TableMetadata table) {
            made(new NewName(table.keyspace, table.name));
          }
        });
  }

  private void made(NewName name) {
    synchronized (reserved) {
      reserved.made(name.toString());
    }
  }

  /** Of another node's question, or this one's own. */
  EveryNode.Answer answer(EveryNode.Question question) {
    String name = question.name();
    boolean isRefused = false;
    boolean isThere;
    synchronized (reserved) {
      isThere = NewName.parse(name).isInSchema();
      if (question.isOver()) {
        reserved.release(name, question.maker());
      } else if (!isThere) {
        isRefused = !reserved.reserve(name, question.maker(), NodeClock.nowMillis());
      }
    }
    return new EveryNode.Answer(Formats.ofThisBuild(), isRefused, isThere);
  }

  /**
   * Makes a keyspace or a table, if nobody else does at the same time. If somebody does, it waits
   * until this node has that, and then does what is to be done if it is there.
   *
   * @param make makes it, or does what is to be done if it is there
   * @throws IsoldeException UNAVAILABLE if fewer than half of the nodes answer, or another one is
   *     still being made after 15 seconds; nothing was made
   */
  public <T> T make(NewName name, Supplier<T> make) {
    long deadlineMillis = nowMillis() + MAX_WAIT_MILLIS;
    long nextPullMillis = nowMillis() + PULL_MILLIS; // It is on its way here, mostly.
    while (!name.isInSchema()) {
      UUID maker = UUID.randomUUID();
      long startMillis = nowMillis();
      Promises promises = reserve(name, maker);
      // A promise that has ended meanwhile is none.
      if (promises.areEnough() && nowMillis() - startMillis < ReservedNames.MAX_MILLIS / 2) {
        return make(name, maker, make);
      }
      release(name, maker);
      if (promises.refused == 0) {
        throw unavailable(
            name,
            "More than half of the %d nodes must know that nobody else makes it, and %d answer"
                .formatted(promises.nodes, promises.given));
      }
      if (nowMillis() > nextPullMillis) {
        promises.having.ifPresent(SchemaPull::from);
        nextPullMillis = nowMillis() + PULL_MILLIS;
      }
      if (nowMillis() > deadlineMillis) {
        throw unavailable(name, "It is being made through another node just now");
      }
      Uninterruptibles.sleepUninterruptibly(
          ThreadLocalRandom.current().nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS),
          TimeUnit.MILLISECONDS);
    }
    return make.get();
  }

  private <T> T make(NewName name, UUID maker, Supplier<T> make) {
    try {
      return make.get();
    } finally {
      if (!name.isInSchema()) {
        release(name, maker);
      }
    }
  }

  /**
   * What nodes have answered.
   *
   * @param having a node that has it in its schema
   */
  private record Promises(int nodes, int given, int refused, Optional<String> having) {
    boolean areEnough() {
      return given > nodes / 2;
    }
  }

  private Promises reserve(NewName name, UUID maker) {
    Optional<String> having = Optional.empty();
    int given = 0;
    int refused = 0;
    for (Map.Entry<String, PatientRequest> asked : ask(name, maker, false).entrySet()) {
      try {
        byte[] said = asked.getValue().await(0, ANSWER_MILLIS);
        EveryNode.Answer answer = JsonMessages.read(said, EveryNode.Answer.class);
        if (answer.isThere()) {
          having = Optional.of(asked.getKey());
        }
        if (answer.isThere() || answer.isRefused()) {
          refused++;
        } else {
          given++;
        }
      } catch (ExecutionException | TimeoutException | IOException noAnswer) {
        log.debug("{} does not promise the name {}", asked.getKey(), name, noAnswer);
      } catch (InterruptedException e) {
        throw new UncheckedInterruptedException(e);
      }
    }
    return new Promises(Ring.members().size(), given, refused, having);
  }

  private void release(NewName name, UUID maker) {
    var unused = ask(name, maker, true);
  }

  private Map<String, PatientRequest> ask(NewName name, UUID maker, boolean isOver) {
    EveryNode.Question question =
        new EveryNode.Question(Ring.self(), name.toString(), maker, isOver);
    Map<String, PatientRequest> asked = new LinkedHashMap<>();
    Ring.living().forEach(node -> asked.put(node, ask.apply(node, question)));
    return asked;
  }

  private static long nowMillis() {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime());
  }

  private static IsoldeException unavailable(NewName name, String why) {
    return IsoldeException.of(
        ErrorCode.UNAVAILABLE,
        name + " was not made. " + why + "; try again.",
        "name",
        name.toString());
  }
}
