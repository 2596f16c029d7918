// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.UUID;

/** The entry of a delivery: which message it brought, and under which numbers. */
public record Delivered(DeliveryId id, UUID messageId, long uid, long modSeq) {}
