// SPDX-License-Identifier: Apache-2.0
package io.isolde.staleness.collect;

import io.isolde.config.StalenessSettings;
import io.isolde.staleness.Place;
import java.util.concurrent.TimeUnit;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.db.ReadCommand;
import org.apache.cassandra.db.partitions.PartitionUpdate;
import org.apache.cassandra.gms.Gossiper;
import org.apache.cassandra.locator.IEndpointSnitch;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.ParamType;
import org.apache.cassandra.schema.Schema;
import org.apache.cassandra.schema.SchemaConstants;
import org.apache.cassandra.schema.TableMetadata;
import org.apache.cassandra.utils.FBUtilities;

/**
 * Sees all messages between this node and others, by the message sinks of Cassandra's
 * MessagingService, and tells the collector of the sampled ones.
 */
public final class MessageTap {
  private static final long LOOK_MILLIS = 100;

  private final Collector collector;

  MessageTap(Collector collector) {
    this.collector = collector;
  }

  /**
   * Begins to listen as soon as the node is up; does nothing where no message is sampled.
   *
   * @return the book that is filled from now on
   */
  public static DelayBook start(StalenessSettings settings) {
    DelayBook book =
        new DelayBook(
            settings.halfLifeMillis(),
            settings.maxTables(),
            () -> TimeUnit.NANOSECONDS.toMillis(System.nanoTime()),
            MessageTap::exists);
    int oneIn = settings.sampleOneIn();
    if (oneIn > 0) {
      Thread start = new Thread(() -> listen(oneIn, book), "isolde-staleness-start");
      start.setDaemon(true);
      start.start();
    }
    return book;
  }

  /** As soon as Cassandra is ready to say where nodes are; there is nothing to be seen before. */
  private static void listen(int oneIn, DelayBook book) {
    try {
      while (!Gossiper.instance.isEnabled()) {
        Thread.sleep(LOOK_MILLIS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return;
    }
    MessageTap tap =
        new MessageTap(
            new Collector(
                oneIn, book, self(), peer -> placeOf((InetAddressAndPort) peer), System::nanoTime));
    MessagingService.instance().outboundSink.add(tap::goesOut);
    MessagingService.instance().inboundSink.add(tap::comesIn);
  }

  /** Where this node is. */
  public static Place self() {
    return placeOf(FBUtilities.getBroadcastAddressAndPort());
  }

  /** Where a node is, as the snitch says. */
  public static Place placeOf(InetAddressAndPort node) {
    IEndpointSnitch snitch = DatabaseDescriptor.getEndpointSnitch();
    return new Place(snitch.getDatacenter(node), snitch.getRack(node));
  }

  /** Returns false for a message that is sent in another form instead. */
  boolean goesOut(Message<?> message, InetAddressAndPort to) {
    if (collector.samples(message.id())) {
      AnswerStamp stamp = seenGoingOut(message, to);
      if (stamp != null) {
        // Comes by here again, with its stamp.
        MessagingService.instance()
            .send(message.withParam(ParamType.CUSTOM_MAP, stamp.toParameter()), to);
        return false;
      }
    }
    return true;
  }

  /** Returns what to stamp the message with, or null. */
  private AnswerStamp seenGoingOut(Message<?> message, InetAddressAndPort to) {
    switch (message.verb()) {
      case MUTATION_REQ, READ_REQ -> {
        TableMetadata table = table(message);
        if (isOwn(message) && isOfUsers(table)) {
          collector.requestSent(message.id(), nameOf(table), isWrite(message));
        }
      }
      case MUTATION_RSP, READ_RSP -> {
        if (AnswerStamp.of(message.header.customParams()) == null) {
          return collector.answerSent(message.id(), to);
        }
      }
      default -> {
        // Nothing that staleness depends on.
      }
    }
    return null;
  }

  private boolean comesIn(Message<?> message) {
    if (collector.samples(message.id())) {
      switch (message.verb()) {
        case MUTATION_REQ, READ_REQ -> {
          TableMetadata table = table(message);
          if (isOfUsers(table)) {
            collector.requestArrived(
                message.id(), message.respondTo(), nameOf(table), isWrite(message));
          }
        }
        case MUTATION_RSP, READ_RSP -> {
          AnswerStamp stamp = AnswerStamp.of(message.header.customParams());
          if (stamp != null) {
            collector.answerArrived(message.id(), message.from(), stamp);
          }
        }
        default -> {
          // Nothing that staleness depends on.
        }
      }
    }
    return true;
  }

  /**
   * Whether this node coordinates the request. A write that it forwards to others of its datacenter
   * has the coordinator's id, which a request of its own has, too, sooner or later.
   */
  private static boolean isOwn(Message<?> message) {
    return message.from().equals(FBUtilities.getBroadcastAddressAndPort());
  }

  private static boolean isWrite(Message<?> message) {
    return message.payload instanceof Mutation;
  }

  /** The table; the first, if a batch writes several. Null for what is none. */
  private static TableMetadata table(Message<?> message) {
    if (message.payload instanceof ReadCommand read) {
      return read.metadata();
    }
    if (message.payload instanceof Mutation mutation) {
      for (PartitionUpdate update : mutation.getPartitionUpdates()) {
        return update.metadata();
      }
    }
    return null;
  }

  private static boolean isOfUsers(TableMetadata table) {
    return table != null && !SchemaConstants.isSystemKeyspace(table.keyspace);
  }

  /** A keyspace's name has no dot. */
  private static String nameOf(TableMetadata table) {
    return table.keyspace + "." + table.name;
  }

  private static boolean exists(String name) {
    int dot = name.indexOf('.');
    return Schema.instance.getTableMetadata(name.substring(0, dot), name.substring(dot + 1))
        != null;
  }
}
