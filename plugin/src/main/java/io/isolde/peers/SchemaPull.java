// SPDX-License-Identifier: Apache-2.0
package io.isolde.peers;

import java.net.UnknownHostException;
import java.util.Collection;
import org.apache.cassandra.db.Mutation;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.net.Message;
import org.apache.cassandra.net.MessagingService;
import org.apache.cassandra.net.NoPayload;
import org.apache.cassandra.net.RequestCallback;
import org.apache.cassandra.net.Verb;
import org.apache.cassandra.schema.SchemaPushVerbHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks a node for its schema. Cassandra sends each change to all nodes once; who misses it, asks a
 * minute later, which is too late for those who wait for it.
 */
public final class SchemaPull {
  private static final Logger log = LoggerFactory.getLogger(SchemaPull.class);

  private SchemaPull() {}

  /** Asks, and applies the answer when it comes, if it comes. */
  public static void from(String node) {
    if (node.equals(Ring.self())) {
      return;
    }
    try {
      RequestCallback<Collection<Mutation>> apply = SchemaPushVerbHandler.instance::doVerb;
      MessagingService.instance()
          .sendWithCallback(
              Message.out(Verb.SCHEMA_PULL_REQ, NoPayload.noPayload),
              InetAddressAndPort.getByName(node),
              apply);
    } catch (UnknownHostException e) {
      log.warn("{} can't be asked for its schema.", node, e);
    }
  }
}
