# kgreckon in a container: docker build -t kgreckon . && docker run --rm kgreckon ask world '(rp,(^capital_of),(e,(Japan)))'
# Serve a run: docker run --rm -p 127.0.0.1:8000:8000 -v ./runs:/runs:ro kgreckon serve /runs/reckoner --host 0.0.0.0
FROM python:3.13-slim AS build
WORKDIR /build
COPY pyproject.toml constraints.txt README.md LICENSE NOTICE ./
COPY src src
# An index of PyTorch's own, for a smaller or another build of torch than the registry's: --build-arg TORCH_INDEX=URL
ARG TORCH_INDEX=
RUN python -m venv /opt/kgreckon && \
    /opt/kgreckon/bin/pip install --no-cache-dir ${TORCH_INDEX:+--extra-index-url "$TORCH_INDEX"} -c constraints.txt '.[learn,server]'

FROM python:3.13-slim
COPY --from=build /opt/kgreckon /opt/kgreckon
# Kernels are compiled once and kept here; mount a volume to keep them longer than the container.
ENV PATH=/opt/kgreckon/bin:$PATH NUMBA_CACHE_DIR=/var/cache/kgreckon
RUN useradd --create-home reckoner && install -d -o reckoner /var/cache/kgreckon
USER reckoner
WORKDIR /home/reckoner
ENTRYPOINT ["kgreckon"]
CMD ["--help"]
