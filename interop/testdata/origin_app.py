"""The origin as an ASGI application, for Hypercorn. FILES in the environment is the directory to serve."""

import hashlib
import os

CHUNK = 1 << 16


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown":
                return
    if scope["path"] == "/b/upload":
        await reply(send, [], (await digest(receive)).encode())
    elif scope["path"] == "/b/head":
        await reply(send, [(n, v) for n, v in scope["headers"] if n.startswith(b"x-big-")], b"")
    else:
        await file(send, os.environ["FILES"] + scope["path"])


async def digest(receive):
    total = hashlib.sha256()
    while True:
        message = await receive()
        total.update(message.get("body", b""))
        if not message.get("more_body"):
            return total.hexdigest()


async def reply(send, headers, body):
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def file(send, name):
    length = str(os.path.getsize(name)).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
    with open(name, "rb") as content:
        while octets := content.read(CHUNK):
            await send({"type": "http.response.body", "body": octets, "more_body": True})
    await send({"type": "http.response.body", "body": b""})
