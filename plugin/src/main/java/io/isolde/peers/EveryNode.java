// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import com.google.common.util.concurrent.ThreadFactoryBuilder;
import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import io.isolde.raft.transport.Formats;
import io.isolde.raft.transport.TransportException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.apache.cassandra.utils.concurrent.UncheckedInterruptedException;

/**
 * Asks every node whether it runs an Isolde that can take part, before the schema names a class
 * that only Isolde has. A node without that class can't load the schema: it would part from the
 * others, and not start again. So nodes that are down count as well.
 */
public final class EveryNode {
  private static final int MAX_WAITING = 64;

  /** For nodes that have just started. */
  private static final long PATIENCE_MILLIS = 3_000;

  private static final long MAX_WAIT_MILLIS = 10_000;

  private final Supplier<Optional<NodePort>> port;
  private final List<String> strongKeyspaces;

  private final NewNames newNames =
      new NewNames((node, asked) -> ask(node, new Question(Ring.self(), asked)));

  /** Guarded by this. */
  private Peers peers;

  /**
   * What is asked; readable by all builds.
   *
   * @param aboutName what is asked of {@link NewNames}; null if that is nothing
   */
  record Question(String asker, NewNames.Question aboutName) {}

  /**
   * That a node is there; builds that do not understand each other have no connection.
   *
   * @param strongKeyspaces the setting of the node
   */
  record Answer(Formats formats, List<String> strongKeyspaces) {}

  /**
   * Makes it; other nodes are answered from {@link #serve} on.
   *
   * @param port empty until the port for other nodes is open
   * @param strongKeyspaces the setting of this node
   */
  public EveryNode(Supplier<Optional<NodePort>> port, List<String> strongKeyspaces) {
    this.port = port;
    this.strongKeyspaces = strongKeyspaces;
  }

  /** Starts answering other nodes, once Cassandra knows its own address. */
  public void serve() {
    newNames.follow();
    peers().serve();
  }

  /** What is made through one node at a time. */
  public NewNames newNames() {
    return newNames;
  }

  private synchronized Peers peers() {
    if (peers == null) {
      peers = new Peers(Ring.self(), Peers.Service.INSTALLATIONS, port, thread(), this::answer);
    }
    return peers;
  }

  private static ThreadPoolExecutor thread() {
    ThreadPoolExecutor thread =
        new ThreadPoolExecutor(
            1,
            1,
            10,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_WAITING),
            new ThreadFactoryBuilder()
                .setNameFormat("isolde-installation-%d")
                .setDaemon(true)
                .build());
    thread.allowCoreThreadTimeOut(true);
    return thread;
  }

  private byte[] answer(byte[] asked) {
    try {
      Question question = JsonMessages.read(asked, Question.class);
      return JsonMessages.bytes(
          question.aboutName() == null
              ? new Answer(Formats.ofThisBuild(), strongKeyspaces)
              : newNames.answer(question.aboutName()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private PatientRequest ask(String node, Question question) {
    Peers known = peers();
    return new PatientRequest(() -> known.ask(node, JsonMessages.bytes(question)));
  }

  /**
   * Returns if all nodes of the cluster run an Isolde that understands this one's.
   *
   * @param change what is to be done, as the subject of a sentence
   * @throws IsoldeException UNAVAILABLE if a node is down; NODE_WITHOUT_ISOLDE if one that is up
   *     does not answer, or understands something else; nothing was changed
   */
  public void requireIsolde(String change) {
    var unused = answers(change);
  }

  /**
   * As {@link #requireIsolde}, for a keyspace that is a strong one by {@code strong_keyspaces}.
   *
   * @throws IsoldeException as that; UNSUPPORTED_KEYSPACE if the setting differs on a node
   */
  public void requireSameStrongKeyspaces(String change) {
    answers(change)
        .forEach(
            (node, answer) -> {
              if (!strongKeyspaces.equals(answer.strongKeyspaces())) {
                throw IsoldeException.of(
                    ErrorCode.UNSUPPORTED_KEYSPACE,
                    "%s makes a strong keyspace by strong_keyspaces, which must be the same on all"
                            .formatted(change)
                        + " nodes. Here it is %s, and on the node %s it is %s."
                            .formatted(strongKeyspaces, node, answer.strongKeyspaces()),
                    "node",
                    node);
              }
            });
  }

  private Map<String, Answer> answers(String change) {
    Question question = new Question(Ring.self(), null);
    Set<String> nodes = Ring.all();
    requireUp(change, nodes);
    Map<String, PatientRequest> asked = new LinkedHashMap<>();
    nodes.forEach(node -> asked.put(node, ask(node, question)));
    Map<String, Answer> answers = new LinkedHashMap<>();
    asked.forEach((node, request) -> answers.put(node, answer(change, node, request)));
    return answers;
  }

  private static void requireUp(String change, Set<String> nodes) {
    Set<String> down = new TreeSet<>(nodes);
    down.removeAll(Ring.livingOfAll());
    if (!down.isEmpty()) {
      throw IsoldeException.of(
          ErrorCode.UNAVAILABLE,
          change
              + " needs all nodes, since each must know Isolde's classes, and these are down: "
              + String.join(", ", down)
              + ". Start them, or remove them from the cluster, and try again.",
          "node",
          down.iterator().next());
    }
  }

  private static Answer answer(String change, String node, PatientRequest request) {
    try {
      return JsonMessages.read(request.await(PATIENCE_MILLIS, MAX_WAIT_MILLIS), Answer.class);
    } catch (ExecutionException | TimeoutException | IOException e) {
      Throwable cause = e instanceof ExecutionException ? e.getCause() : null;
      if (cause instanceof TransportException failure
          && failure.reason() == TransportException.Reason.OTHER_FORMAT) {
        throw without(change, node, "runs another build", cause.getMessage());
      }
      throw without(
          change,
          node,
          "does not answer as one with Isolde does (" + (cause == null ? "no answer" : cause) + ")",
          "Put isolde.jar on it, of this build or a later one, and restart it, or open the port of"
              + " the oracle (oracle_port).");
    } catch (InterruptedException e) {
      throw new UncheckedInterruptedException(e);
    }
  }

  private static IsoldeException without(String change, String node, String what, String next) {
    return IsoldeException.of(
        ErrorCode.NODE_WITHOUT_ISOLDE,
        change + " needs all nodes, and the node " + node + " " + what + ". " + next,
        "node",
        node);
  }
}
