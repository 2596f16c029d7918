// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import com.google.common.util.concurrent.Uninterruptibles;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
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
import java.util.function.BooleanSupplier;
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
 * make one of the same name at once, each with ids of its own. Later one of them wins, and what
 * clients have written to the other is gone. So a maker needs the promise of more than half of the
 * nodes that they let in nobody else until their schemas have the name.
 */
public final class NewNames {
  private static final Logger log = LoggerFactory.getLogger(NewNames.class);

  /** For another one that makes it just now, or has, and whose change is on its way here. */
  private static final long MAX_WAIT_MILLIS = 15_000;

  /** Of all nodes; also for those that have just started and can't be asked yet. */
  private static final long ANSWER_MILLIS = 3_000;

  /** A pull makes this node write all of its schema to disk again. */
  private static final long PULL_MILLIS = 3_000;

  private static final int MIN_PAUSE_MILLIS = 20;
  private static final int MAX_PAUSE_MILLIS = 200;

  private final BiFunction<String, Question, PatientRequest> ask;

  /** What a node is asked about a name. */
  enum What {
    /** To promise that nobody else makes it until it is in the node's schema. */
    RESERVE,
    /** To promise that nobody else makes it until the maker is done. */
    RESERVE_FOR_MORE,
    /** The maker has given up or is done. */
    RELEASE,
    /** Whether it is there, or about to be. */
    LOOK
  }

  /**
   * A question to a node.
   *
   * @param name what is to be in the schema
   * @param maker who would put it there
   */
  record Question(String name, UUID maker, What what) {}

  /**
   * What a node says.
   *
   * @param isRefused whether the name is promised to another maker
   * @param isThere whether it is in the node's schema
   */
  record Answer(boolean isRefused, boolean isThere) {}

  /** Guarded by itself. */
  private final ReservedNames reserved = new ReservedNames();

  NewNames(BiFunction<String, Question, PatientRequest> ask) {
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
  Answer answer(Question question) {
    String name = question.name();
    What what = question.what();
    boolean isRefused = false;
    boolean isThere;
    synchronized (reserved) {
      isThere = NewName.parse(name).isInSchema();
      if (what == What.RELEASE) {
        reserved.release(name, question.maker());
      } else if (what == What.LOOK) {
        isRefused = reserved.isReserved(name, nowMillis());
      } else if (!isThere) {
        boolean isForMore = what == What.RESERVE_FOR_MORE;
        isRefused = !reserved.reserve(name, question.maker(), isForMore, nowMillis());
      }
    }
    return new Answer(isRefused, isThere);
  }

  /**
   * Makes a keyspace or a table, if nobody else does at the same time. If somebody does, it waits
   * until this node has that, and then does what is to be done if it is there.
   *
   * @param isForMore whether the name is kept until {@code make} returns, so that {@link
   *     #awaitMaker} waits for all that it does; else until nodes have the name
   * @param make makes it, or does what is to be done if it is there
   * @throws IsoldeException UNAVAILABLE if no more than half of the nodes answer, or another one is
   *     still being made after 15 seconds; nothing was made
   */
  public <T> T make(NewName name, boolean isForMore, Supplier<T> make) {
    long startMillis = nowMillis();
    long nextPullMillis = startMillis + PULL_MILLIS; // It is on its way here, mostly.
    while (!name.isThere()) {
      UUID maker = UUID.randomUUID();
      long askedMillis = nowMillis();
      boolean isKept = false;
      Said said;
      try {
        said = ask(name, maker, isForMore ? What.RESERVE_FOR_MORE : What.RESERVE);
        // A promise that has ended meanwhile is none.
        if (said.isPromised() && nowMillis() - askedMillis < ReservedNames.MAX_MILLIS / 2) {
          T made = make.get();
          isKept = !isForMore && name.isInSchema();
          return made;
        }
      } finally {
        if (!isKept) {
          release(name, maker);
        }
      }
      requireTime(name, said, nowMillis() - startMillis);
      if (nowMillis() > nextPullMillis) {
        said.having.ifPresent(SchemaPull::from);
        nextPullMillis = nowMillis() + PULL_MILLIS;
      }
      pause();
    }
    return make.get();
  }

  /**
   * Waits while somebody makes what this node's schema has already, for 15 seconds at most.
   *
   * @param isDone ends the wait
   */
  public void awaitMaker(NewName name, BooleanSupplier isDone) {
    long startMillis = nowMillis();
    while (!isDone.getAsBoolean()
        && ask(name, UUID.randomUUID(), What.LOOK).refused > 0
        && nowMillis() - startMillis < MAX_WAIT_MILLIS) {
      pause();
    }
  }

  /**
   * Waits until this node alone in the cluster may do something with a keyspace.
   *
   * @param work what it is; no name that a table may have
   * @param maxWaitMillis not much longer than that; see {@link WorkLease#MAX_WAIT_MILLIS}
   * @return empty if another node does it all that time, or no more than half of the nodes answer
   */
  public Optional<WorkLease> lease(String keyspace, String work, long maxWaitMillis) {
    return WorkLease.take(this, new NewName(keyspace, work), maxWaitMillis);
  }

  /** Asks the nodes for their promises, or to keep them for longer. */
  boolean isPromised(NewName name, UUID maker) {
    return ask(name, maker, What.RESERVE_FOR_MORE).isPromised();
  }

  /** Nodes need not keep their promises any more. */
  void release(NewName name, UUID maker) {
    var unused = send(name, maker, What.RELEASE);
  }

  private static void requireTime(NewName name, Said said, long waitedMillis) {
    if (said.refused + said.having.stream().count() == 0 && waitedMillis > ANSWER_MILLIS) {
      throw unavailable(
          name,
          "More than half of the %d nodes must promise that nobody else makes it, and %d do"
              .formatted(said.nodes, said.promised));
    }
    if (waitedMillis > MAX_WAIT_MILLIS) {
      throw unavailable(
          name,
          said.having
              .map("The node %s has it, and this one has not heard of it yet"::formatted)
              .orElse("It is being made through another node just now"));
    }
  }

  private static void pause() {
    Uninterruptibles.sleepUninterruptibly(
        ThreadLocalRandom.current().nextInt(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS),
        TimeUnit.MILLISECONDS);
  }

  /**
   * What nodes have answered.
   *
   * @param nodes of the cluster
   * @param refused who has promised it to another maker
   * @param having a node that has it in its schema
   */
  private record Said(int nodes, int promised, int refused, Optional<String> having) {
    /** A node that has it knows of a maker whose promises have ended. */
    boolean isPromised() {
      return promised > nodes / 2 && having.isEmpty();
    }
  }

  private Said ask(NewName name, UUID maker, What what) {
    long startMillis = nowMillis();
    Optional<String> having = Optional.empty();
    int promised = 0;
    int refused = 0;
    for (Map.Entry<String, PatientRequest> asked : send(name, maker, what).entrySet()) {
      try {
        long leftMillis = Math.max(1, ANSWER_MILLIS - (nowMillis() - startMillis));
        byte[] said = asked.getValue().await(0, leftMillis);
        Answer answer = JsonMessages.read(said, Answer.class);
        if (answer.isRefused()) {
          refused++;
        } else if (answer.isThere()) {
          having = Optional.of(asked.getKey());
        } else {
          promised++;
        }
      } catch (ExecutionException | TimeoutException | IOException noAnswer) {
        log.debug("{} does not answer about the name {}", asked.getKey(), name, noAnswer);
      } catch (InterruptedException e) {
        throw new UncheckedInterruptedException(e);
      }
    }
    return new Said(Ring.members().size(), promised, refused, having);
  }

  private Map<String, PatientRequest> send(NewName name, UUID maker, What what) {
    Question question = new Question(name.toString(), maker, what);
    Map<String, PatientRequest> asked = new LinkedHashMap<>();
    Ring.living().forEach(node -> asked.put(node, ask.apply(node, question)));
    return asked;
  }

  /** No clock that is set ends promises. */
  static long nowMillis() {
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
