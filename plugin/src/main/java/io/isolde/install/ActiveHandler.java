// SPDX-License-Identifier: Apache-2.0
package io.isolde.install;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import org.apache.cassandra.config.CassandraRelevantProperties;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.service.ClientState;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether clients of this node come to Isolde. {@link IsoldeFormatFactory} sees to it. Where that
 * was lost, as when jars are packed into one without their services, nothing would check writes to
 * transactional tables and strong keyspaces. So this class refuses them.
 */
public final class ActiveHandler {
  private static final Logger logger = LoggerFactory.getLogger(ActiveHandler.class);

  private static final String OURS = "io.isolde.";

  private static final String SENTENCE =
      "This node has classes of Isolde, but its clients do not come to Isolde. Install isolde.jar"
          + " as it was built, and no other query handler, and restart the node.";

  private ActiveHandler() {}

  /** To be called when the schema is loaded, before clients come. */
  public static void logIfNotOurs() {
    String handler = CassandraRelevantProperties.CUSTOM_QUERY_HANDLER_CLASS.getString();
    boolean isOurs = handler != null && handler.startsWith(OURS);
    if (DatabaseDescriptor.isDaemonInitialized() && !isOurs) {
      logger.error(
          "{} Until then writes of clients to transactional tables and strong keyspaces are"
              + " refused, and reads are not isolated.",
          SENTENCE);
    }
  }

  /**
   * Refuses what a client wants to write if another handler took it.
   *
   * @param code what does not work then
   */
  public static void requireOurs(ErrorCode code) {
    String handler = ClientState.getCQLQueryHandler().getClass().getName();
    if (!handler.startsWith(OURS)) {
      throw IsoldeException.of(code, SENTENCE);
    }
  }
}
